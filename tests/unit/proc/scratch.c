/* SPDX-License-Identifier: MIT */
#include "scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char directory[] = "/tmp/blkbox-unit-scratch-XXXXXX";

static unsigned count_names(void)
{
	DIR *dir = opendir(directory);
	unsigned n = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* Root may open anything: somebody else tries. */
static int try_as_nobody(void)
{
	struct scratch scratch;
	struct why why = {""};
	int r;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 2;
	umask(0777);
	r = scratch_create(&scratch, directory, NULL, &why);
	if (r == 0)
		scratch_destroy(&scratch);
	return r != -EACCES || !strstr(why.text, "cannot open a directory");
}

Test(scratch, one_that_cannot_be_opened_does_not_stay)
{
	int status;
	pid_t child;

	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(chmod(directory, 0777), 0);
	child = fork();
	if (child == 0)
		_exit(try_as_nobody());
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned)status);
	cr_expect_eq(count_names(), 0);
	rmdir(directory);
}
