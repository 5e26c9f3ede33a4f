/* SPDX-License-Identifier: MIT */
#include "sysroot.h"

#include "fake_tree.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>

static struct fake_tree tree;

static void setup(void)
{
	fake_tree_init(&tree);
}

static void teardown(void)
{
	fake_tree_deinit(&tree);
}

TestSuite(sysroot, .init = setup, .fini = teardown);

Test(sysroot, opens_below_the_root_and_closes_on_exec)
{
	_cleanup_close_ int fd = -1;

	fake_tree_write(&tree, "/sys/block/sda/dev", "8:0\n");
	fd = sysroot_openf(&tree.root, O_RDONLY, "/sys/block/%s/dev", "sda");
	cr_assert_geq(fd, 0);
	cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	cr_assert_eq(sysroot_openf(&tree.root, O_RDONLY, "/etc/passwd"), -ENOENT);
}

Test(sysroot, a_root_that_is_not_there)
{
	struct sysroot root = {.fd = -7};

	cr_assert_eq(sysroot_open(&root, "/nonexistent"), -ENOENT);
	cr_assert_eq(root.fd, -7);
	cr_assert_eq(sysroot_open(&root, "/etc/passwd"), -ENOTDIR);
}

Test(sysroot, reads_without_the_white_space_at_the_end)
{
	char text[8];

	fake_tree_write(&tree, "/a", "nop \n\n");
	cr_assert_eq(sysroot_read(&tree.root, text, sizeof(text), "/a"), 3);
	cr_assert_str_eq(text, "nop");
	fake_tree_write(&tree, "/a", "");
	cr_assert_eq(sysroot_read(&tree.root, text, sizeof(text), "/a"), 0);
	cr_assert_str_eq(text, "");
	cr_assert_eq(sysroot_read(&tree.root, text, sizeof(text), "/b"), -ENOENT);
}

Test(sysroot, a_file_that_does_not_fit_is_not_cut)
{
	char text[8] = "before";

	fake_tree_write(&tree, "/a", "1234567");
	cr_assert_eq(sysroot_read(&tree.root, text, sizeof(text), "/a"), 7);
	fake_tree_write(&tree, "/a", "12345678");
	cr_assert_eq(sysroot_read(&tree.root, text, sizeof(text), "/a"), -EFBIG);
}

Test(sysroot, numbers_are_numbers_and_nothing_else)
{
	static const char *const bad[] = {
		"", "-1", "+1", "1 2", "0x10", "12k", "18446744073709551616"};
	uint64_t value = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fake_tree_write(&tree, "/n", bad[i]);
		cr_expect_eq(sysroot_read_u64(&tree.root, &value, "/n"), -EINVAL, "'%s'", bad[i]);
		cr_expect_eq(value, 77);
	}
	fake_tree_write(&tree, "/n", "18446744073709551615\n");
	cr_assert_eq(sysroot_read_u64(&tree.root, &value, "/n"), 0);
	cr_assert_eq(value, UINT64_MAX);
	cr_assert_eq(sysroot_read_u64(&tree.root, &value, "/m"), -ENOENT);
}

Test(sysroot, writes_what_is_there_and_makes_nothing)
{
	char text[16];

	fake_tree_write(&tree, "/tracing/trace_clock", "global_long\n");
	cr_assert_eq(sysroot_write(&tree.root, "mono", "/tracing/%s", "trace_clock"), 0);
	cr_assert_eq(sysroot_read(&tree.root, text, sizeof(text), "/tracing/trace_clock"), 4);
	cr_assert_str_eq(text, "mono");
	cr_assert_eq(sysroot_write(&tree.root, "x", "/tracing/none"), -ENOENT);
}

Test(sysroot, links_and_directories)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char target[16], small[4];

	fake_tree_link(&tree, "/proc/7/fd/3", "/dev/sda");
	cr_assert_eq(sysroot_readlink(&tree.root, target, sizeof(target), "/proc/%d/fd/3", 7), 8);
	cr_assert_str_eq(target, "/dev/sda");
	cr_assert_eq(sysroot_readlink(&tree.root, small, sizeof(small), "/proc/7/fd/3"),
		     -ENAMETOOLONG);
	cr_assert_eq(sysroot_readlink(&tree.root, small, sizeof(small), "/proc"), -EINVAL);
	cr_assert_eq(sysroot_opendir(&tree.root, &dir, "/proc/7/%s", "fd"), 0);
	cr_assert_not_null(dir);
	cr_assert(sysroot_exists(&tree.root, "/proc/%d", 7));
	cr_assert(!sysroot_exists(&tree.root, "/proc/%d", 8));
}

Test(sysroot, a_path_that_is_too_long)
{
	static char long_name[8192];

	memset(long_name, 'a', sizeof(long_name) - 1);
	cr_assert_eq(sysroot_openf(&tree.root, O_RDONLY, "/%s", long_name), -ENAMETOOLONG);
	cr_assert(!sysroot_exists(&tree.root, "/%s", long_name));
}

Test(sysroot, finds_the_first_mount_of_a_type)
{
	char path[32] = "before", tiny[8];

	fake_tree_write(&tree, "/proc/self/mounts",
			"proc /proc proc rw 0 0\n"
			"short\n"
			"none /mnt/with\\040blank\\043 debugfs rw,relatime 0 0\n"
			"debugfs /sys/kernel/debug debugfs rw 0 0\n");
	cr_assert_eq(sysroot_find_mount(&tree.root, "debugfs", path, sizeof(path)), 0);
	cr_assert_str_eq(path, "/mnt/with blank#");
	cr_assert_eq(sysroot_find_mount(&tree.root, "tracefs", path, sizeof(path)), -ENOENT);
	cr_assert_eq(sysroot_find_mount(&tree.root, "debug", path, sizeof(path)), -ENOENT);
	cr_assert_eq(sysroot_find_mount(&tree.root, "debugfs", tiny, sizeof(tiny)), -ENAMETOOLONG);
	cr_assert_str_eq(path, "/mnt/with blank#");
}

Test(sysroot, this_machine)
{
	struct sysroot root;
	char path[4096];

	cr_assert_eq(sysroot_open(&root, NULL), 0);
	cr_assert(sysroot_exists(&root, "/proc/self/mounts"));
	cr_assert_eq(sysroot_find_mount(&root, "proc", path, sizeof(path)), 0);
	sysroot_close(&root);
	cr_assert_eq(root.fd, -1);
}
