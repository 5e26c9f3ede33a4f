/* SPDX-License-Identifier: MIT */
#include "aside.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static char directory[] = "/tmp/blkbox-aside-XXXXXX";
static char path[PATH_MAX], part[PATH_MAX], other[PATH_MAX];
static struct aside file;
static struct why why;

static void init(void)
{
	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/out", directory);
	snprintf(part, sizeof(part), "%s/out.part", directory);
	snprintf(other, sizeof(other), "%s/other", directory);
	file = (struct aside){.fd = -1};
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static void deinit(void)
{
	aside_deinit(&file);
	unlink(path);
	unlink(part);
	unlink(other);
	rmdir(directory);
}

TestSuite(aside, .init = init, .fini = deinit);

static bool exists(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

static void put(const char *name, const char *text)
{
	_cleanup_fclose_ FILE *to = fopen(name, "we");

	cr_assert(to && fputs(text, to) >= 0);
}

static void assert_text(const char *name, const char *text)
{
	_cleanup_fclose_ FILE *from = fopen(name, "re");
	char got[64] = "";

	cr_assert_not_null(from, "%s is not there", name);
	cr_assert(fgets(got, sizeof(got), from));
	cr_assert_str_eq(got, text);
}

static void write_and_commit(bool force)
{
	cr_assert_eq(aside_open(&file, path, force, &why), 0, "%s", why.text);
	cr_assert_eq(write(file.fd, "new", 3), 3);
	cr_assert_eq(aside_commit(&file, force, &why), 0, "%s", why.text);
}

Test(aside, is_only_its_owners)
{
	struct stat st;

	umask(0);
	write_and_commit(false);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0600, "%o", st.st_mode);
	assert_text(path, "new");
}

Test(aside, one_that_is_not_committed_is_removed_unless_it_is_kept)
{
	cr_assert_eq(aside_open(&file, path, false, &why), 0);
	aside_deinit(&file);
	cr_assert(!exists(part) && !exists(path));
	cr_assert_eq(aside_open(&file, path, false, &why), 0);
	aside_keep(&file);
	aside_deinit(&file);
	cr_assert(exists(part) && !exists(path));
}

Test(aside, what_is_there_is_not_touched_without_force)
{
	put(path, "old");
	cr_assert_eq(aside_open(&file, path, false, &why), -EEXIST);
	cr_assert_eq(file.fd, -1);
	cr_assert_not_null(strstr(why.text, "--force"), "%s", why.text);
	cr_assert_not(exists(part));
	assert_text(path, "old");
}

Test(aside, an_unfinished_output_is_not_touched_without_force)
{
	put(part, "half");
	cr_assert_eq(aside_open(&file, path, false, &why), -EEXIST);
	cr_assert_not_null(strstr(why.text, part), "%s", why.text);
	assert_text(part, "half");
	write_and_commit(true);
	assert_text(path, "new");
	cr_assert_not(exists(part));
}

/* Overwriting must give what a new file gives: not the old one's mode, and no other name of it. */
Test(aside, an_unfinished_output_is_replaced_not_written_into)
{
	struct stat st;

	put(other, "precious");
	cr_assert_eq(chmod(other, 0666), 0);
	cr_assert_eq(link(other, part), 0);
	write_and_commit(true);
	assert_text(other, "precious");
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0600, "%o", st.st_mode);
}

Test(aside, a_pipe_in_place_of_the_unfinished_output_holds_nobody_up, .timeout = 10)
{
	cr_assert_eq(mkfifo(part, 0600), 0);
	write_and_commit(true);
	assert_text(path, "new");
}

Test(aside, symbolic_links_are_not_followed)
{
	put(other, "precious");
	cr_assert_eq(symlink("other", part), 0);
	cr_assert_eq(aside_open(&file, path, false, &why), -EEXIST);
	write_and_commit(true);
	assert_text(other, "precious");
	assert_text(path, "new");
}

Test(aside, a_link_in_place_of_the_output_is_replaced_not_written_through)
{
	put(other, "precious");
	cr_assert_eq(symlink("other", path), 0);
	cr_assert_eq(aside_open(&file, path, false, &why), -EEXIST);
	write_and_commit(true);
	assert_text(other, "precious");
	assert_text(path, "new");
}

/* As /dev/stdout is: to replace it would take it away from the whole machine. */
Test(aside, a_link_to_an_open_file_is_not_replaced)
{
	char target[64], found[64];
	int fd = open(other, O_CREAT | O_WRONLY, 0600);
	ssize_t n;

	snprintf(target, sizeof(target), "/proc/self/fd/%d", fd);
	cr_assert_eq(symlink(target, path), 0);
	cr_expect_eq(aside_open(&file, path, true, &why), -EINVAL);
	cr_expect(strstr(why.text, "standard output is '-'"), "%s", why.text);
	n = readlink(path, found, sizeof(found));
	cr_expect(n == (ssize_t)strlen(target) && !memcmp(found, target, (size_t)n));
	close(fd);
}

Test(aside, a_link_to_nowhere_is_something_too)
{
	cr_assert_eq(symlink("nowhere", path), 0);
	cr_assert_eq(aside_open(&file, path, false, &why), -EEXIST);
	cr_assert_not(exists(part));
}

Test(aside, a_name_that_was_taken_meanwhile_is_theirs)
{
	cr_assert_eq(aside_open(&file, path, false, &why), 0);
	put(path, "theirs");
	cr_assert_eq(aside_commit(&file, false, &why), -EEXIST);
	assert_text(path, "theirs");
	cr_assert(exists(part), "what was written stays");
}

Test(aside, directories_and_places_that_are_none)
{
	char below[PATH_MAX];

	cr_assert_eq(aside_open(&file, directory, true, &why), -EISDIR);
	cr_assert_not_null(strstr(why.text, "directory"), "%s", why.text);
	snprintf(below, sizeof(below), "%s/no/out", directory);
	cr_assert_eq(aside_open(&file, below, true, &why), -ENOENT);
	put(path, "a file");
	snprintf(below, sizeof(below), "%s/out/below", directory);
	cr_assert_eq(aside_open(&file, below, true, &why), -ENOTDIR);
	assert_text(path, "a file");
}

Test(aside, devices_and_pipes_are_written_directly)
{
	struct stat st;
	char text[4] = "";
	int fd;

	cr_assert_eq(aside_open(&file, "/dev/null", false, &why), 0, "%s", why.text);
	cr_assert_null(file.part);
	cr_assert_eq(aside_commit(&file, false, &why), 0);
	aside_deinit(&file);
	cr_assert(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
	cr_assert_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	write_and_commit(false);
	cr_assert_eq(read(fd, text, sizeof(text)), 3);
	cr_assert(stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
	close(fd);
}

Test(aside, of_a_recording_through_sudo_is_the_users)
{
	struct stat st;

	if (geteuid() != 0)
		cr_skip_test("only root can give files away");
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "5678", 1);
	write_and_commit(false);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_uid, 1234);
	cr_assert_eq(st.st_gid, 5678);
}

Test(aside, sudos_numbers_that_are_none_are_left_alone)
{
	struct stat st;

	setenv("SUDO_UID", "12x", 1);
	setenv("SUDO_GID", "", 1);
	write_and_commit(false);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_uid, geteuid());
}

Test(aside, without_a_name_until_it_is_whole)
{
	cr_assert_eq(aside_open_unnamed(&file, path, &why), 0, "%s", why.text);
	cr_assert_eq(write(file.fd, "whole", 5), 5);
	cr_assert(!exists(path) && !exists(part));
	cr_assert_eq(aside_commit(&file, false, &why), 0, "%s", why.text);
	assert_text(path, "whole");
}

Test(aside, without_a_name_it_leaves_nothing)
{
	cr_assert_eq(aside_open_unnamed(&file, path, &why), 0);
	aside_deinit(&file);
	cr_assert(!exists(path) && !exists(part));
}

Test(aside, without_a_name_nothing_is_overwritten)
{
	put(path, "mine");
	cr_assert_eq(aside_open_unnamed(&file, path, &why), -EEXIST);
	unlink(path);
	cr_assert_eq(aside_open_unnamed(&file, path, &why), 0);
	put(path, "somebody's");
	cr_assert_eq(aside_commit(&file, false, &why), -EEXIST);
	assert_text(path, "somebody's");
}

Test(aside, without_a_name_no_force_is_advised)
{
	put(path, "mine");
	cr_assert_eq(aside_open_unnamed(&file, path, &why), -EEXIST);
	cr_expect_null(strstr(why.text, "--force"), "%s", why.text);
	unlink(path);
	cr_assert_eq(symlink("other", path), 0);
	cr_assert_eq(aside_open_unnamed(&file, path, &why), -EEXIST);
	cr_expect_not_null(strstr(why.text, "exists; it is not overwritten"), "%s", why.text);
	/* Who has it is told of it. */
	cr_assert_eq(aside_open(&file, path, false, &why), -EEXIST);
	cr_expect_not_null(strstr(why.text, "exists; --force overwrites it"), "%s", why.text);
}
