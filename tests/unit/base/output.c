/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "cleanup.h"
#include "invoker.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char directory[] = "/tmp/blkbox-output-XXXXXX";
static char path[PATH_MAX], other[PATH_MAX];
static struct why why;

static void init(void)
{
	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/out", directory);
	snprintf(other, sizeof(other), "%s/other", directory);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

static void deinit(void)
{
	unlink(path);
	rmdir(path);
	unlink(other);
	rmdir(directory);
}

TestSuite(output, .init = init, .fini = deinit);

static void put(const char *name)
{
	close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static enum output_place look(void)
{
	enum output_place place;

	cr_assert_eq(output_look(path, &place, &why), 0, "%s", why.text);
	return place;
}

Test(output, tells_what_is_there)
{
	cr_expect_eq(look(), OUTPUT_NOTHING);
	put(path);
	cr_expect_eq(look(), OUTPUT_FILE);
	unlink(path);
	mkfifo(path, 0600);
	cr_expect_eq(look(), OUTPUT_DIRECT);
	unlink(path);
	/* Of a link it is the link itself, wherever it leads. */
	cr_assert_eq(symlink("nowhere", path), 0);
	cr_expect_eq(look(), OUTPUT_FILE);
	unlink(path);
	mkfifo(other, 0600);
	cr_assert_eq(symlink(other, path), 0);
	cr_expect_eq(look(), OUTPUT_FILE);
}

Test(output, a_link_to_a_device_is_neither_followed_nor_replaced)
{
	enum output_place place;

	cr_assert_eq(symlink("/dev/null", path), 0);
	cr_expect_eq(output_look(path, &place, &why), -EINVAL);
	cr_expect_eq(output_open_direct(path, &why), -ELOOP);
}

/* In a sticky folder somebody has put a link where the output is to be: the target stays as it is.
 */
Test(output, creates_nothing_through_a_link)
{
	struct stat st;

	cr_assert_eq(chmod(directory, 01777), 0);
	cr_assert_eq(symlink(other, path), 0);
	cr_expect_eq(output_create(path, O_WRONLY, &why), -EEXIST);
	cr_expect_lt(lstat(other, &st), 0, "it was made through a dangling link");
	put(other);
	cr_expect_eq(output_create(path, O_WRONLY, &why), -EEXIST);
	cr_expect_eq(output_open_append(path, &why), -ELOOP);
}

Test(output, appends_to_a_file_of_one_name_only)
{
	int fd;

	put(path);
	fd = output_open_append(path, &why);
	cr_expect_geq(fd, 0, "%s", why.text);
	close(fd);
	cr_assert_eq(link(path, other), 0);
	cr_expect_eq(output_open_append(path, &why), -EPERM);
	cr_expect(strstr(why.text, "another name"), "%s", why.text);
}

Test(output, of_another_user_nothing_is_written_to)
{
	if (geteuid() != 0)
		cr_skip_test("only root can make files of others");
	put(path);
	cr_assert_eq(chown(path, 1234, 1234), 0);
	cr_expect_eq(output_open_append(path, &why), -EPERM);
	/* The user who started us is no other. */
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "1234", 1);
	close(output_open_append(path, &why));
	cr_expect_eq(output_open_append(path, &why) >= 0, true, "%s", why.text);
	unlink(path);
	mkfifo(path, 0666);
	cr_assert_eq(chown(path, 4321, 4321), 0);
	close(open(path, O_RDWR | O_CLOEXEC)); /* somebody reads */
	int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_expect_eq(output_open_direct(path, &why), -EPERM);
	close(reader);
}

Test(output, what_is_new_is_the_users)
{
	struct stat st;
	int fd;

	if (geteuid() != 0)
		cr_skip_test("only root can give files away");
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "5678", 1);
	umask(0);
	fd = output_create(path, O_WRONLY, &why);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect(st.st_uid == 1234 && st.st_gid == 5678 && (st.st_mode & 07777) == 0600);
	close(fd);
	unlink(path);
	umask(022);
	cr_assert_eq(output_make_directory(path, &why), 0);
	cr_assert_eq(output_make_directory(path, &why), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect(st.st_uid == 1234 && st.st_gid == 5678 && (st.st_mode & 07777) == 0755);
}

static bool found_as(uid_t uid)
{
	struct invoker user;
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(setresuid(uid, uid, uid) < 0 ? 2 : invoker_find(&user));
	waitpid(pid, &status, 0);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status);
}

Test(output, of_nobody_but_root_is_sudos_word_taken)
{
	if (geteuid() != 0)
		cr_skip_test("only root can become somebody else");
	setenv("SUDO_UID", "1234", 1);
	setenv("SUDO_GID", "5678", 1);
	cr_expect(found_as(0));
	cr_expect_not(found_as(1000));
	/* "Leave it as it is", to chown(2); root, by way of sudo; no number. */
	for (const char *const *bad =
		     (const char *const[]){"4294967295", "4294967296", "-1", "0", "1 ", "", NULL};
	     *bad; bad++) {
		setenv("SUDO_UID", *bad, 1);
		cr_expect_not(found_as(0), "%s", *bad);
	}
}
