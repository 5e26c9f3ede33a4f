/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A made-up machine: a temporary directory that stands for "/".
 */
#ifndef BLKBOX_TEST_FAKE_TREE_H
#define BLKBOX_TEST_FAKE_TREE_H

#include "sysroot.h"

#include <stddef.h>

struct fake_tree {
	char path[64]; /* of the directory, on the real machine */
	struct sysroot root;
};

/* All fail the running test when they fail. Paths are absolute, of the made-up machine. */
void fake_tree_init(struct fake_tree *tree);
/** Removes the whole tree. */
void fake_tree_deinit(struct fake_tree *tree);

void fake_tree_dir(struct fake_tree *tree, const char *path);
/** Makes or replaces a file; missing directories are made. */
void fake_tree_write(struct fake_tree *tree, const char *path, const char *text);
/** A symbolic link. @target: relative, so that it stays inside; or never followed. */
void fake_tree_link(struct fake_tree *tree, const char *path, const char *target);
/** Removes a file, link or empty directory. */
void fake_tree_remove(struct fake_tree *tree, const char *path);
void fake_tree_chmod(struct fake_tree *tree, const char *path, unsigned mode);
/** Sets what stat says of a file's length. */
void fake_tree_truncate(struct fake_tree *tree, const char *path, size_t size);
/** A device node; skips the running test where only root may make one. @type: S_IFBLK, S_IFCHR. */
void fake_tree_node(struct fake_tree *tree, const char *path, unsigned type, unsigned major,
		    unsigned minor);

/** A disk in sysfs and /dev. @name: as sysfs spells it, "cciss!c0d0". */
void fake_tree_disk(struct fake_tree *tree, const char *name, unsigned major, unsigned minor,
		    unsigned long sectors);
void fake_tree_partition(struct fake_tree *tree, const char *disk, const char *name, unsigned major,
			 unsigned minor, unsigned long start, unsigned long sectors);

#endif
