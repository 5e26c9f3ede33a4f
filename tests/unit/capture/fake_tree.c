/* SPDX-License-Identifier: MIT */
#include "fake_tree.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

void fake_tree_init(struct fake_tree *tree)
{
	strcpy(tree->path, "/tmp/blkbox-tree-XXXXXX");
	cr_assert_not_null(mkdtemp(tree->path));
	cr_assert_eq(sysroot_open(&tree->root, tree->path), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

void fake_tree_deinit(struct fake_tree *tree)
{
	sysroot_close(&tree->root);
	cr_assert_eq(nftw(tree->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void real_path(const struct fake_tree *tree, const char *path, char *ret)
{
	cr_assert_eq(path[0], '/');
	cr_assert_lt(snprintf(ret, PATH_MAX, "%s%s", tree->path, path), PATH_MAX);
}

static void make_parents(char *path, size_t from)
{
	for (char *slash = strchr(path + from + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		cr_assert(mkdir(path, 0755) == 0 || errno == EEXIST, "mkdir %s", path);
		*slash = '/';
	}
}

void fake_tree_dir(struct fake_tree *tree, const char *path)
{
	char real[PATH_MAX];

	real_path(tree, path, real);
	make_parents(real, strlen(tree->path));
	cr_assert(mkdir(real, 0755) == 0 || errno == EEXIST, "mkdir %s", real);
}

void fake_tree_write(struct fake_tree *tree, const char *path, const char *text)
{
	char real[PATH_MAX];
	_cleanup_fclose_ FILE *file = NULL;

	real_path(tree, path, real);
	make_parents(real, strlen(tree->path));
	file = fopen(real, "w");
	cr_assert_not_null(file, "cannot make %s", real);
	cr_assert_geq(fputs(text, file), 0);
}

void fake_tree_link(struct fake_tree *tree, const char *path, const char *target)
{
	char real[PATH_MAX];

	real_path(tree, path, real);
	make_parents(real, strlen(tree->path));
	cr_assert_eq(symlink(target, real), 0, "cannot make %s", real);
}

void fake_tree_remove(struct fake_tree *tree, const char *path)
{
	char real[PATH_MAX];

	real_path(tree, path, real);
	cr_assert_eq(remove(real), 0, "cannot remove %s", real);
}

void fake_tree_chmod(struct fake_tree *tree, const char *path, unsigned mode)
{
	char real[PATH_MAX];

	real_path(tree, path, real);
	cr_assert_eq(chmod(real, mode), 0);
}

void fake_tree_truncate(struct fake_tree *tree, const char *path, size_t size)
{
	char real[PATH_MAX];

	real_path(tree, path, real);
	cr_assert_eq(truncate(real, (off_t)size), 0);
}
