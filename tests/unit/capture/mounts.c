/* SPDX-License-Identifier: MIT */
#include "mounts.h"

#include "fake_kernel.h"
#include "lockdown.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>

static struct fake_tree tree;
static struct fake_kernel kernel;
static struct why why;

static void setup(void)
{
	fake_tree_init(&tree);
	fake_kernel_init(&kernel, &tree);
}

static void teardown(void)
{
	fake_kernel_deinit(&kernel);
	fake_tree_deinit(&tree);
}

TestSuite(mounts, .init = setup, .fini = teardown);
TestSuite(lockdown, .init = setup, .fini = teardown);

static void expect_debugfs(const char *given, int result, const char *words)
{
	char path[PATH_MAX] = "before";
	int r = debugfs_find(&tree.root, &kernel.ops, given, path, sizeof(path), &why);

	cr_expect_eq(r, result, "%d: %s", r, why.text);
	if (r < 0)
		cr_expect(strstr(why.text, words), "'%s' has no '%s'", why.text, words);
	cr_expect_str_eq(path, r < 0 ? "before" : words);
}

Test(mounts, debugfs_where_it_is)
{
	expect_debugfs(NULL, 0, FAKE_DEBUGFS);
	expect_debugfs(FAKE_DEBUGFS "//", 0, FAKE_DEBUGFS);
}

Test(mounts, debugfs_elsewhere)
{
	fake_tree_write(&tree, "/proc/self/mounts", "none /mnt/d\\040d debugfs rw 0 0\n");
	fake_tree_dir(&tree, "/mnt/d d");
	expect_debugfs(NULL, -EINVAL, "hidden by another mount");
	expect_debugfs(FAKE_DEBUGFS, 0, FAKE_DEBUGFS);
}

Test(mounts, a_given_path_that_is_missing_and_one_that_is_something_else)
{
	fake_tree_dir(&tree, "/tmp");
	fake_tree_write(&tree, "/file", "");
	expect_debugfs("/nonexistent", -ENOENT,
		       "cannot open /nonexistent, which should be debugfs: No such file");
	expect_debugfs("/file", -ENOTDIR, "Not a directory");
	expect_debugfs("/tmp", -EINVAL, "/tmp exists, but it is not debugfs");
	expect_debugfs("/", -EINVAL, "/ exists, but it is not debugfs");
	expect_debugfs("debug", -EINVAL, "no absolute path");
	expect_debugfs("", -EINVAL, "no absolute path");
}

Test(mounts, debugfs_not_mounted)
{
	fake_tree_write(&tree, "/proc/self/mounts", "proc /proc proc rw 0 0\n");
	expect_debugfs(NULL, -ENOENT,
		       "debugfs is not mounted; 'mount -t debugfs debugfs /sys/kernel/debug'");
	fake_tree_write(&tree, "/.dockerenv", "");
	expect_debugfs(NULL, -ENOENT, "not mounted in this mount namespace");
	fake_tree_remove(&tree, "/.dockerenv");
	fake_tree_link(&tree, "/proc/self/ns/mnt", "mnt:[2]");
	fake_tree_link(&tree, "/proc/1/ns/mnt", "mnt:[1]");
	expect_debugfs(NULL, -ENOENT, "not mounted in this mount namespace");
}

Test(mounts, a_kernel_without_debugfs)
{
	fake_tree_write(&tree, "/proc/self/mounts", "");
	fake_tree_write(&tree, "/proc/filesystems", "nodev\tsysfs\nnodev\ttracefs");
	expect_debugfs(NULL, -ENODEV, "built without debugfs (CONFIG_DEBUG_FS)");
	fake_tree_write(&tree, "/proc/cmdline", "quiet debugfs=no-mount panic=-1\n");
	expect_debugfs(NULL, -ENODEV, "switched off by the boot parameter debugfs=no-mount;");
}

Test(mounts, debugfs_that_is_empty_or_lacks_the_block_layer)
{
	fake_tree_remove(&tree, FAKE_DEBUGFS "/block");
	expect_debugfs(NULL, -ENODEV, "it is empty: access to it is switched off");
	cr_assert(strstr(why.text, "boot parameter debugfs="));
	fake_tree_dir(&tree, FAKE_DEBUGFS "/extfrag");
	expect_debugfs(NULL, -ENODEV, "CONFIG_BLK_DEV_IO_TRACE");
}

Test(mounts, debugfs_hidden_or_closed)
{
	kernel.debugfs_type = TMPFS_MAGIC;
	expect_debugfs(NULL, -EINVAL, "debugfs at " FAKE_DEBUGFS " is hidden by another mount");
	kernel.open_fails = "/debug";
	kernel.open_error = -EACCES;
	expect_debugfs(NULL, -EACCES, "run as root");
}

Test(mounts, tracefs)
{
	char path[PATH_MAX];

	cr_assert_eq(tracefs_find(&tree.root, path, sizeof(path), &why), 0);
	cr_assert_str_eq(path, FAKE_TRACEFS);
	fake_tree_write(&tree, "/proc/self/mounts", "debugfs " FAKE_DEBUGFS " debugfs rw 0 0\n");
	cr_assert_eq(tracefs_find(&tree.root, path, sizeof(path), &why), -ENOENT);
	cr_assert(strstr(why.text, "'mount -t tracefs tracefs /sys/kernel/tracing'"));
	fake_tree_write(&tree, FAKE_DEBUGFS "/tracing/current_tracer", "nop\n");
	cr_assert_eq(tracefs_find(&tree.root, path, sizeof(path), &why), 0);
	cr_assert_str_eq(path, FAKE_DEBUGFS "/tracing");
	fake_tree_write(&tree, "/proc/self/mounts", "");
	fake_tree_write(&tree, "/proc/filesystems", "nodev\tsysfs\n");
	cr_assert_eq(tracefs_find(&tree.root, path, sizeof(path), &why), -ENODEV);
	cr_assert(strstr(why.text, "CONFIG_TRACING"));
}

static enum lockdown read_level(const char *text)
{
	fake_tree_write(&tree, "/sys/kernel/security/lockdown", text);
	return lockdown_read(&tree.root, &kernel.ops, FAKE_DEBUGFS);
}

Test(lockdown, as_securityfs_says)
{
	cr_assert_eq(read_level("[none] integrity confidentiality\n"), LOCKDOWN_NONE);
	cr_assert_eq(read_level("none [integrity] confidentiality\n"), LOCKDOWN_INTEGRITY);
	cr_assert_eq(read_level("none integrity [confidentiality]\n"), LOCKDOWN_CONFIDENTIALITY);
	cr_assert_eq(read_level("none [integrity]\n"), LOCKDOWN_INTEGRITY);
	cr_assert_eq(read_level("something else\n"), LOCKDOWN_UNKNOWN);
}

Test(lockdown, tried_where_securityfs_is_not_mounted)
{
	fake_tree_remove(&tree, "/sys/kernel/security/lockdown");
	kernel.locked_down = true;
	cr_assert_eq(lockdown_read(&tree.root, &kernel.ops, NULL), LOCKDOWN_UNKNOWN);
	cr_assert_eq(lockdown_read(&tree.root, &kernel.ops, FAKE_DEBUGFS), LOCKDOWN_UNKNOWN);
	/* A file that opens under lockdown too tells nothing. */
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sda/state", "");
	fake_tree_chmod(&tree, FAKE_DEBUGFS "/block/sda/state", 0400);
	cr_assert_eq(lockdown_read(&tree.root, &kernel.ops, FAKE_DEBUGFS), LOCKDOWN_UNKNOWN);
	fake_tree_write(&tree, FAKE_DEBUGFS "/block/sdb/state", "");
	fake_tree_chmod(&tree, FAKE_DEBUGFS "/block/sdb/state", 0600);
	cr_assert_eq(lockdown_read(&tree.root, &kernel.ops, FAKE_DEBUGFS), LOCKDOWN_INTEGRITY);
	kernel.locked_down = false;
	cr_assert_eq(lockdown_read(&tree.root, &kernel.ops, FAKE_DEBUGFS), LOCKDOWN_NONE);
}

/* CONFIG_BLK_DEBUG_FS is not in every kernel: then disks have no such file. */
Test(lockdown, tried_where_disks_have_no_file)
{
	fake_tree_remove(&tree, "/sys/kernel/security/lockdown");
	fake_tree_write(&tree, FAKE_DEBUGFS "/clear_warn_once", "");
	fake_tree_chmod(&tree, FAKE_DEBUGFS "/clear_warn_once", 0200);
	kernel.locked_down = true;
	cr_assert_eq(lockdown_read(&tree.root, &kernel.ops, FAKE_DEBUGFS), LOCKDOWN_INTEGRITY);
	kernel.locked_down = false;
	cr_assert_eq(lockdown_read(&tree.root, &kernel.ops, FAKE_DEBUGFS), LOCKDOWN_NONE);
}
