/* SPDX-License-Identifier: MIT */
#include "foreign_writes.h"

#include "fake_tree.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct fake_tree tree;
static struct foreign_writes writes;
static struct why why;

static void setup(void)
{
	fake_tree_init(&tree);
	foreign_writes_init(&writes);
	fake_tree_write(&tree, "/t/trace", "");
	fake_tree_write(&tree, "/t/trace_marker", "");
	fake_tree_write(&tree, "/t/tracing_on", "1\n");
}

static void teardown(void)
{
	foreign_writes_deinit(&writes);
	fake_tree_deinit(&tree);
}

TestSuite(foreign_writes, .init = setup, .fini = teardown, .timeout = 30);

static const char *const names[] = {"trace", "tracing_on", NULL};

static void watch(void)
{
	cr_assert_eq(foreign_writes_watch(&writes, &tree.root, names, "/%s", "t"), 0);
}

static void change(const char *path, const char *text)
{
	cr_assert_geq(sysroot_write(&tree.root, text, "%s", path), 0, "%s", path);
}

Test(foreign_writes, a_write_is_told_once)
{
	watch();
	cr_expect_eq(foreign_writes_look(&writes, NULL, &why), 0);
	change("/t/trace", "\n");
	cr_expect_eq(foreign_writes_look(&writes, NULL, &why), -EBUSY);
	cr_expect(strstr(why.text, "/t/trace "), "%s", why.text);
	cr_expect_eq(foreign_writes_look(&writes, NULL, &why), 0);
}

Test(foreign_writes, the_same_value_back_is_told_too)
{
	watch();
	change("/t/tracing_on", "0");
	change("/t/tracing_on", "1");
	cr_expect_eq(foreign_writes_look(&writes, NULL, &why), -EBUSY);
	cr_expect(strstr(why.text, "/t/tracing_on "), "%s", why.text);
}

/* `: > trace` */
Test(foreign_writes, emptying_without_a_write_is_told)
{
	watch();
	close(sysroot_openf(&tree.root, O_WRONLY | O_TRUNC, "/t/trace"));
	cr_expect_eq(foreign_writes_look(&writes, NULL, &why), -EBUSY);
}

Test(foreign_writes, reading_and_other_files_are_nobodys_business)
{
	char text[16];

	watch();
	cr_assert_geq(sysroot_read(&tree.root, text, sizeof(text), "/t/trace"), 0);
	change("/t/trace_marker", "hello");
	cr_expect_eq(foreign_writes_look(&writes, NULL, &why), 0);
}

Test(foreign_writes, own_writes_hide_nobody_elses)
{
	watch();
	change("/t/tracing_on", "1");
	cr_expect_eq(foreign_writes_look(&writes, "tracing_on", &why), 0);
	change("/t/tracing_on", "1");
	change("/t/trace", "");
	cr_expect_eq(foreign_writes_look(&writes, "tracing_on", &why), -EBUSY);
}

Test(foreign_writes, what_is_not_there_is_passed_over)
{
	cr_expect_eq(foreign_writes_watch(&writes, &tree.root, names, "/nowhere"), 0);
	cr_expect_eq(foreign_writes_look(&writes, NULL, &why), 0);
}

/* A queue's filter may be set through any of its partitions. */
Test(foreign_writes, a_disk_is_watched_with_its_partitions)
{
	static const char *const files[] = {"/sys/block/sda/trace/act_mask",
					    "/sys/block/sda/sda1/trace/act_mask",
					    "/sys/block/sda/sda2/trace/act_mask"};
	static const unsigned minors[] = {0, 2};
	static const char *const filters[] = {"act_mask", NULL};

	fake_tree_disk(&tree, "sda", 8, 0, 1 << 20);
	fake_tree_partition(&tree, "sda", "sda1", 8, 1, 2048, 4096);
	fake_tree_partition(&tree, "sda", "sda2", 8, 2, 8192, 4096);
	for (size_t f = 0; f < 3; f++)
		fake_tree_write(&tree, files[f], "0\n");
	for (size_t m = 0; m < 2; m++) {
		for (size_t f = 0; f < 3; f++) {
			foreign_writes_deinit(&writes);
			cr_assert_eq(foreign_writes_watch_disk(&writes, &tree.root, filters, 8,
							       minors[m]),
				     0);
			change(files[f], "1");
			cr_expect_eq(foreign_writes_look(&writes, NULL, &why), -EBUSY, "8:%u %s",
				     minors[m], files[f]);
		}
	}
}
