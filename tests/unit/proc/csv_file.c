/* SPDX-License-Identifier: MIT */
#include "csv_file.h"
#include "csv_writer.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char directory[] = "/tmp/blkbox-csv-XXXXXX";
static char path[64];
static struct why why;
static struct csv_file file;
static struct csv_file_options options;

static void init(void)
{
	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/out", directory);
	options = (struct csv_file_options){.path = path, .header = "a,b\n", .keep = 2};
}

static void deinit(void)
{
	char command[128];

	csv_file_close(&file);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	cr_assert_eq(system(command), 0);
}

TestSuite(csv_file, .init = init, .fini = deinit);

static const char *content(const char *suffix)
{
	static char text[1 << 20];
	char name[80];
	int fd;
	ssize_t n;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	fd = open(name, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? "none" : text;
}

static int put(const char *rows, size_t *done)
{
	return csv_file_write(&file, rows, strlen(rows), done);
}

static void write_text(const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

Test(csv_file, what_is_there_is_not_overwritten)
{
	write_text("precious");
	cr_expect_eq(csv_file_open(&file, &options, &why), -EEXIST);
	cr_expect(strstr(why.text, "--force"));
	cr_expect_str_eq(content(""), "precious");
	options.append = true;
	cr_expect_eq(csv_file_open(&file, &options, &why), -EINVAL);
	cr_expect_str_eq(content(""), "precious");
	options.append = false;
	options.force = true;
	cr_expect_eq(csv_file_open(&file, &options, &why), 0);
	cr_expect_str_eq(content(""), "a,b\n");
}

Test(csv_file, appending_goes_on_behind_whole_rows)
{
	size_t done;

	write_text("a,b\n1,2\n3");
	options.append = true;
	cr_assert_eq(csv_file_open(&file, &options, &why), 0, "%s", why.text);
	cr_assert_eq(put("5,6\n", &done), 0);
	cr_expect_str_eq(content(""), "a,b\n1,2\n5,6\n");
}

Test(csv_file, full_files_are_put_aside)
{
	size_t done;

	options.max_bytes = 12;
	cr_assert_eq(csv_file_open(&file, &options, &why), 0, "%s", why.text);
	cr_assert_eq(put("1,1\n2,2\n3,3\n", &done), 0);
	cr_expect_eq(done, 12);
	cr_expect_str_eq(content(""), "a,b\n3,3\n");
	cr_expect_str_eq(content(".1"), "a,b\n1,1\n2,2\n");
	cr_assert_eq(put("4,4\n5,5\n6,6\n7,7\n8,8\n", &done), 0);
	cr_expect_str_eq(content(""), "a,b\n7,7\n8,8\n");
	cr_expect_str_eq(content(".1"), "a,b\n5,5\n6,6\n");
	cr_expect_str_eq(content(".2"), "a,b\n3,3\n4,4\n");
	cr_expect_str_eq(content(".3"), "none");
	/* One that is longer than a file has one of its own. */
	cr_assert_eq(put("123456789,1234567\n", &done), 0);
	cr_expect_str_eq(content(""), "a,b\n123456789,1234567\n");
}

Test(csv_file, a_new_file_by_the_same_name)
{
	char moved[80];
	size_t done;

	cr_assert_eq(csv_file_open(&file, &options, &why), 0);
	snprintf(moved, sizeof(moved), "%s.moved", path);
	rename(path, moved);
	cr_assert_eq(put("1,1\n", &done), 0);
	cr_assert_eq(csv_file_reopen(&file), 0);
	cr_assert_eq(put("2,2\n", &done), 0);
	cr_expect_str_eq(content(""), "a,b\n2,2\n");
	cr_expect_str_eq(content(".moved"), "a,b\n1,1\n");
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(csv_file, half_a_row_is_taken_back)
{
	size_t done;

	cr_assert_eq(csv_file_open(&file, &options, &why), 0);
	limit_files(10);
	cr_expect_eq(put("1,1\n2,2\n3,3\n", &done), -EFBIG);
	cr_expect_eq(done, 4);
	cr_expect_str_eq(content(""), "a,b\n1,1\n");
	cr_expect_eq(put("2,2\n3,3\n", &done), -EFBIG);
	cr_expect_eq(done, 0);
	cr_expect_str_eq(content(""), "a,b\n1,1\n");
	limit_files(100);
	cr_assert_eq(put("2,2\n3,3\n", &done), 0);
	cr_expect_str_eq(content(""), "a,b\n1,1\n2,2\n3,3\n");
}

Test(csv_file, mending_cuts_off_half_a_row_and_nothing_else)
{
	struct csv_identity identity;
	struct stat st;

	write_text("a,b\n1,2\n3,");
	stat(path, &st);
	identity = (struct csv_identity){st.st_dev, st.st_ino + 1};
	csv_file_mend(path, &identity);
	cr_expect_str_eq(content(""), "a,b\n1,2\n3,", "another file of that name");
	identity.inode--;
	csv_file_mend(path, &identity);
	cr_expect_str_eq(content(""), "a,b\n1,2\n");
	csv_file_mend(path, &identity);
	cr_expect_str_eq(content(""), "a,b\n1,2\n");
}

Test(csv_file, no_directories_and_no_disks)
{
	options.force = true;
	options.path = directory;
	cr_expect_eq(csv_file_open(&file, &options, &why), -EISDIR);
	options.path = "/nonexistent/x";
	cr_expect_eq(csv_file_open(&file, &options, &why), -ENOENT);
	cr_expect(strstr(why.text, "/nonexistent/x"));
}

/* The writer, while its file cannot grow and then can again. */
Test(csv_file, an_output_that_fails_for_a_while)
{
	struct csv_writer writer;
	struct row_ring rows;
	uint64_t started_ns = clock_mono_ns();

	cr_assert_eq(row_ring_init(&rows, 1 << 16), 0);
	cr_assert_eq(csv_writer_init(&writer, &options, &rows, false, &why), 0);
	limit_files(9);
	cr_assert_eq(csv_writer_start(&writer), 0);
	for (int i = 0; i < 3; i++) {
		cr_assert(row_ring_put(&rows, "1,1\n", 4));
		ring_wake_always(&rows.sleep);
		usleep(50000);
	}
	cr_expect_str_eq(content(""), "a,b\n1,1\n");
	limit_files(10000);
	while (strcmp(content("") + 8, "") == 0 &&
	       clock_mono_ns() - started_ns < 20 * (uint64_t)NS_PER_S)
		usleep(20000);
	cr_expect_eq(csv_writer_stop(&writer), 0);
	cr_expect(strstr(content(""), "\"NOTE: the output could not be written from mono "), "%s",
		  content(""));
	cr_expect_str_eq(content("") + strlen(content("")) - 9, "\n1,1\n1,1\n");
	csv_writer_deinit(&writer);
	row_ring_deinit(&rows);
}

Test(csv_file, what_a_failing_output_did_not_take_is_counted)
{
	struct csv_writer writer;
	struct row_ring rows;

	cr_assert_eq(row_ring_init(&rows, 1 << 16), 0);
	cr_assert_eq(csv_writer_init(&writer, &options, &rows, false, &why), 0);
	limit_files(4);
	cr_assert_eq(csv_writer_start(&writer), 0);
	for (int i = 0; i < 3; i++)
		cr_assert(row_ring_put(&rows, "1,1\n", 4));
	cr_expect_eq(csv_writer_stop(&writer), 3);
	csv_writer_deinit(&writer);
	row_ring_deinit(&rows);
}

Test(csv_file, a_pipe_that_nobody_reads_from, .timeout = 10)
{
	int fd;

	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(csv_file_open(&file, &options, &why), -ENXIO);
	cr_expect(strstr(why.text, "nobody reads from it"), "%s", why.text);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_assert_eq(csv_file_open(&file, &options, &why), 0);
	/* Rows are waited for as before. */
	cr_expect_eq(fcntl(file.fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
}
