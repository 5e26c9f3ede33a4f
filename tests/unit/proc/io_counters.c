/* SPDX-License-Identifier: MIT */
#include "io_counters.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* As a kernel wrote it. */
static const char sample[] = "rchar: 6976\nwchar: 18446744073709551615\nsyscr: 10\nsyscw: 3\n"
			     "read_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 12288\n";

static struct io_counters counters;
static struct why why;

Test(io_counters, every_counter_has_its_place)
{
	cr_assert_eq(io_counters_parse(sample, &counters, &why), 0, "%s", why.text);
	cr_expect_eq(counters.value[IO_RCHAR], 6976);
	cr_expect_eq(counters.value[IO_WCHAR], UINT64_MAX);
	cr_expect_eq(counters.value[IO_SYSCR], 10);
	cr_expect_eq(counters.value[IO_SYSCW], 3);
	cr_expect_eq(counters.value[IO_READ_BYTES], 4096);
	cr_expect_eq(counters.value[IO_WRITE_BYTES], 8192);
	cr_expect_eq(counters.value[IO_CANCELLED_WRITE_BYTES], 12288);
}

Test(io_counters, a_newer_kernel_may_have_more)
{
	char text[512];

	snprintf(text, sizeof(text), "%snew_bytes: 5\n", sample);
	cr_assert_eq(io_counters_parse(text, &counters, &why), 0);
}

Test(io_counters, a_missing_counter_is_told_and_never_zero)
{
	for (int i = 0; i < N_IO_COUNTERS; i++) {
		char text[512], line[64];
		const char *name = io_counter_name((enum io_counter)i);
		char *from, *end;

		strcpy(text, sample);
		snprintf(line, sizeof(line), "%s:", name);
		/* "write_bytes" is in "cancelled_write_bytes", too. */
		for (from = strstr(text, line); from != text && from[-1] != '\n';)
			from = strstr(from + 1, line);
		end = strchr(from, '\n') + 1;
		memmove(from, end, strlen(end) + 1);
		memset(&counters, 0x5a, sizeof(counters));
		cr_assert_eq(io_counters_parse(text, &counters, &why), -ENODATA, "%s", name);
		cr_expect(strstr(why.text, name), "%s", why.text);
		cr_expect_eq(counters.value[0], 0x5a5a5a5a5a5a5a5a);
	}
}

Test(io_counters, what_is_no_accounting_is_refused)
{
	static const char *const texts[] = {"rchar 5\n",
					    "rchar: -5\n",
					    "rchar: \n",
					    "rchar: 5x\n",
					    "rchar: 18446744073709551616\n",
					    "\1\2\3"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_eq(io_counters_parse(texts[i], &counters, &why), -EBADMSG, "%s",
			     texts[i]);
	cr_expect_eq(io_counters_parse("", &counters, &why), -ENODATA);
}

Test(io_counters, differences_and_counters_that_go_back)
{
	struct io_counters before = {{1, 2, 3, 4, 5, 6, 7}}, after = {{2, 4, 6, 8, 10, 12, 7}};
	struct io_counters delta;

	cr_assert_eq(io_counters_subtract(&after, &before, &delta, &why), 0);
	cr_expect_eq(delta.value[IO_RCHAR], 1);
	cr_expect_eq(delta.value[IO_WRITE_BYTES], 6);
	cr_expect_eq(delta.value[IO_CANCELLED_WRITE_BYTES], 0);
	cr_expect_eq(io_counters_subtract(&before, &after, &delta, &why), -ERANGE);
	cr_expect(strstr(why.text, "rchar"));
}

/* A made-up /proc. */
static char directory[] = "/tmp/blkbox-proc-XXXXXX";
static int proc_fd;

static void make_tree(void)
{
	cr_assert_not_null(mkdtemp(directory));
	proc_fd = open(directory, O_RDONLY | O_DIRECTORY);
	mkdirat(proc_fd, "7", 0700);
	mkdirat(proc_fd, "7/task", 0700);
	mkdirat(proc_fd, "7/task/8", 0700);
}

static void put(const char *path, const char *text)
{
	int fd = openat(proc_fd, path, O_CREAT | O_WRONLY, 0600);

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void remove_tree(void)
{
	unlinkat(proc_fd, "7/io", 0);
	unlinkat(proc_fd, "7/task/8/io", 0);
	unlinkat(proc_fd, "7/task/8", AT_REMOVEDIR);
	unlinkat(proc_fd, "7/task", AT_REMOVEDIR);
	unlinkat(proc_fd, "7", AT_REMOVEDIR);
	rmdir(directory);
	close(proc_fd);
}

Test(io_counters, of_processes_and_of_threads, .init = make_tree, .fini = remove_tree)
{
	put("7/io", sample);
	put("7/task/8/io", "rchar: 1\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n"
			   "cancelled_write_bytes: 0\n");
	cr_assert_eq(io_counters_read(proc_fd, 7, 0, &counters, &why), 0, "%s", why.text);
	cr_expect_eq(counters.value[IO_RCHAR], 6976);
	cr_assert_eq(io_counters_read(proc_fd, 7, 8, &counters, &why), 0, "%s", why.text);
	cr_expect_eq(counters.value[IO_RCHAR], 1);
	cr_expect_eq(io_counters_read(proc_fd, 9, 0, &counters, &why), -ENOENT);
	cr_expect(strstr(why.text, "/proc/9/io"), "%s", why.text);
}

Test(io_counters, of_an_old_kernel, .init = make_tree, .fini = remove_tree)
{
	put("7/io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\n");
	cr_expect_eq(io_counters_read(proc_fd, 7, 0, &counters, &why), -ENODATA);
	cr_expect(strstr(why.text, "/proc/7/io"), "%s", why.text);
	cr_expect(strstr(why.text, "read_bytes"), "%s", why.text);
}
