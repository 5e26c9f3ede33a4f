/* SPDX-License-Identifier: MIT */
#include "fake_tree.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

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

void fake_tree_node(struct fake_tree *tree, const char *path, unsigned type, unsigned major_number,
		    unsigned minor_number)
{
	char real[PATH_MAX];

	real_path(tree, path, real);
	make_parents(real, strlen(tree->path));
	if (mknod(real, type | 0600, makedev(major_number, minor_number)) < 0 && errno == EPERM)
		cr_skip_test("only root may make device nodes");
}

static void write_in(struct fake_tree *tree, const char *dir, const char *file, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));

static void write_in(struct fake_tree *tree, const char *dir, const char *file, const char *format,
		     ...)
{
	char path[PATH_MAX], text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fake_tree_write(tree, path, text);
}

/* The files that disks and partitions have in common, and the ways to them. */
static void make_device(struct fake_tree *tree, const char *dir, const char *name, unsigned major,
			unsigned minor, unsigned long sectors)
{
	char path[PATH_MAX], target[2 * PATH_MAX], node[NAME_MAX];

	snprintf(node, sizeof(node), "%s", name);
	for (char *c = node; *c; c++) {
		if (*c == '!')
			*c = '/';
	}
	write_in(tree, dir, "dev", "%u:%u\n", major, minor);
	write_in(tree, dir, "size", "%lu\n", sectors);
	write_in(tree, dir, "uevent", "MAJOR=%u\nMINOR=%u\nDEVNAME=%s\nDEVTYPE=disk\n", major,
		 minor, node);
	write_in(tree, dir, "trace/enable", "0\n");
	snprintf(path, sizeof(path), "%s/holders", dir);
	fake_tree_dir(tree, path);

	snprintf(target, sizeof(target), "../../..%s", dir);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);
	fake_tree_link(tree, path, target);
	snprintf(path, sizeof(path), "/sys/class/block/%s", name);
	fake_tree_link(tree, path, target);
	snprintf(path, sizeof(path), "/dev/%s", node);
	fake_tree_node(tree, path, S_IFBLK, major, minor);
}

void fake_tree_disk(struct fake_tree *tree, const char *name, unsigned major, unsigned minor,
		    unsigned long sectors)
{
	char dir[PATH_MAX], path[PATH_MAX], target[2 * PATH_MAX];

	snprintf(dir, sizeof(dir), "/sys/devices/block/%s", name);
	make_device(tree, dir, name, major, minor, sectors);
	write_in(tree, dir, "queue/zoned", "none\n");
	snprintf(path, sizeof(path), "/sys/block/%s", name);
	snprintf(target, sizeof(target), "../..%s", dir);
	fake_tree_link(tree, path, target);
}

void fake_tree_partition(struct fake_tree *tree, const char *disk, const char *name, unsigned major,
			 unsigned minor, unsigned long start, unsigned long sectors)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "/sys/devices/block/%s/%s", disk, name);
	make_device(tree, dir, name, major, minor, sectors);
	write_in(tree, dir, "partition", "1\n");
	write_in(tree, dir, "start", "%lu\n", start);
}
