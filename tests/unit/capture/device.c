/* SPDX-License-Identifier: MIT */
#include "device.h"

#include "device_node.h"
#include "fake_tree.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct fake_tree tree;
static struct why why;

static void setup(void)
{
	fake_tree_init(&tree);
	fake_tree_disk(&tree, "sda", 8, 0, 2097152);
	fake_tree_partition(&tree, "sda", "sda1", 8, 1, 2048, 1024);
	fake_tree_partition(&tree, "sda", "sda2", 259, 7, 4096, 8192);
	fake_tree_disk(&tree, "nvme0n1", 259, 0, 1000);
	fake_tree_disk(&tree, "dm-0", 253, 0, 500);
	fake_tree_disk(&tree, "cciss!c0d0", 104, 0, 300);
	fake_tree_partition(&tree, "cciss!c0d0", "cciss!c0d0p1", 104, 1, 64, 100);
	fake_tree_link(&tree, "/dev/mapper/home", "../dm-0");
	fake_tree_link(&tree, "/dev/disk/by-id/ata-x=y", "../../sda");
	fake_tree_write(&tree, "/sys/devices/block/nvme0n1/queue/zoned", "host-managed\n");
}

static void teardown(void)
{
	fake_tree_deinit(&tree);
}

TestSuite(device, .init = setup, .fini = teardown);

struct spec {
	const char *spec, *path, *name;
	uint32_t device;
};

static const struct spec good[] = {
	{"/dev/sda", "/dev/sda", "sda", 8 << 20},
	{"sda", "/dev/sda", "sda", 8 << 20},
	{"8:0", "/dev/sda", "sda", 8 << 20},
	{"259:7", "/dev/sda2", "sda2", 259 << 20 | 7},
	{"/dev/nvme0n1", "/dev/nvme0n1", "nvme0n1", 259 << 20},
	{"nvme0n1", "/dev/nvme0n1", "nvme0n1", 259 << 20},
	{"dm-0", "/dev/dm-0", "dm-0", 253 << 20},
	{"/dev/mapper/home", "/dev/dm-0", "dm-0", 253 << 20},
	{"mapper/home", "/dev/dm-0", "dm-0", 253 << 20},
	{"/dev/disk/by-id/ata-x=y", "/dev/sda", "sda", 8 << 20},
	{"disk/by-id/ata-x=y", "/dev/sda", "sda", 8 << 20},
	{"cciss!c0d0", "/dev/cciss/c0d0", "cciss/c0d0", 104 << 20},
	{"cciss/c0d0", "/dev/cciss/c0d0", "cciss/c0d0", 104 << 20},
	{"/dev/cciss/c0d0p1", "/dev/cciss/c0d0p1", "cciss/c0d0p1", 104 << 20 | 1},
};

Test(device, every_way_to_name_one)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct block_device device;
		int r = device_resolve(&tree.root, good[i].spec, &device, &why);

		cr_expect_eq(r, 0, "%s: %s", good[i].spec, why.text);
		if (r < 0)
			continue;
		cr_expect_str_eq(device.spec, good[i].spec);
		cr_expect_str_eq(device.path, good[i].path, "%s gave %s", good[i].spec,
				 device.path);
		cr_expect_str_eq(device.name, good[i].name);
		cr_expect_eq(device.device, good[i].device);
	}
}

Test(device, what_sysfs_says_of_a_disk)
{
	struct block_device device;

	cr_assert_eq(device_resolve(&tree.root, "sda", &device, &why), 0);
	cr_assert(!device.partition);
	cr_assert(!device.zoned);
	cr_assert_str_eq(device.disk_name, "sda");
	cr_assert_eq(device.disk, 8 << 20);
	cr_assert_eq(device.start_sector, 0);
	cr_assert_eq(device.sectors, 2097152);
	cr_assert_eq(device.number, makedev(8, 0));
	cr_assert_eq(device_resolve(&tree.root, "nvme0n1", &device, &why), 0);
	cr_assert(device.zoned);
}

Test(device, what_sysfs_says_of_a_partition)
{
	struct block_device device;

	cr_assert_eq(device_resolve(&tree.root, "/dev/sda2", &device, &why), 0);
	cr_assert(device.partition);
	cr_assert_str_eq(device.disk_name, "sda");
	cr_assert_eq(device.disk, 8 << 20);
	cr_assert_eq(device.start_sector, 4096);
	cr_assert_eq(device.sectors, 8192);
	cr_assert_eq(device_resolve(&tree.root, "cciss/c0d0p1", &device, &why), 0);
	cr_assert_str_eq(device.disk_name, "cciss/c0d0");
	cr_assert_eq(device.disk, 104 << 20);
}

static void expect_failure(const char *spec, int error, const char *words)
{
	struct block_device device = {.device = 4711};
	int r = device_resolve(&tree.root, spec, &device, &why);

	cr_expect_eq(r, error, "%s: %d, %s", spec, r, why.text);
	cr_expect(strstr(why.text, words), "%s: '%s' has no '%s'", spec, why.text, words);
	cr_expect_eq(device.device, 4711, "%s: touched", spec);
}

Test(device, what_is_none_is_told_apart)
{
	fake_tree_write(&tree, "/home/image", "x");
	fake_tree_node(&tree, "/dev/null", S_IFCHR, 1, 3);
	fake_tree_node(&tree, "/run/pipe", S_IFIFO, 0, 0);
	fake_tree_link(&tree, "/dev/dangling", "gone");
	expect_failure("/home/image", -ENOTBLK, "/home/image is a regular file");
	expect_failure("/home", -ENOTBLK, "/home is a directory");
	expect_failure("/dev/null", -ENOTBLK, "/dev/null is a character device");
	expect_failure("null", -ENOTBLK, "/dev/null is a character device");
	expect_failure("/run/pipe", -ENOTBLK, "/run/pipe is a named pipe");
	expect_failure("/dev/sdz", -ENOENT, "/dev/sdz does not exist");
	expect_failure("/dev/dangling", -ENOENT, "/dev/dangling does not exist");
	expect_failure("/home/image/x", -ENOENT, "/home/image/x does not exist");
	expect_failure("sdz", -ENOENT, "no block device 'sdz'");
	expect_failure("9:9", -ENOENT, "no block device 9:9");
	expect_failure("", -EINVAL, "empty");
	expect_failure("..", -ENOTBLK, ".. is a directory");
}

Test(device, tags_that_are_none)
{
	expect_failure("FSTYPE=ext4", -EINVAL, "'FSTYPE=ext4' is not understood");
	expect_failure("LABEL=", -EINVAL, "'LABEL=' is not understood");
	expect_failure("=x", -EINVAL, "'=x' is not understood");
	expect_failure("LABEL=no/such label", -ENOENT, "no block device has LABEL=no/such label");
}

Test(device, a_scsi_generic_node_points_to_its_disk)
{
	fake_tree_node(&tree, "/dev/sg0", S_IFCHR, 21, 0);
	fake_tree_node(&tree, "/dev/sg1", S_IFCHR, 21, 1);
	fake_tree_dir(&tree, "/sys/dev/char/21:0/device/block/sda");
	expect_failure("/dev/sg0", -ENOTBLK, "SCSI generic node of disk sda; give the disk");
	expect_failure("sg0", -ENOTBLK, "of disk sda");
	expect_failure("/dev/sg1", -ENOTBLK, "a device that is no disk");
}

Test(device, a_node_that_the_kernel_does_not_know)
{
	fake_tree_node(&tree, "/dev/old", S_IFBLK, 8, 240);
	expect_failure("/dev/old", -ENXIO, "block device 8:240, which the kernel does not have");
}

/* Whoever opens it later starts at "/". */
Test(device, a_relative_path_becomes_absolute)
{
	struct block_device device;
	char expected[PATH_MAX];

	fake_tree_remove(&tree, "/dev/sda");
	fake_tree_node(&tree, "/home/mine", S_IFBLK, 8, 0);
	snprintf(expected, sizeof(expected), "%s/home/mine", tree.path);
	cr_assert_eq(chdir(tree.path), 0);
	cr_assert_eq(device_resolve(&tree.root, "home/../home/mine", &device, &why), 0, "%s",
		     why.text);
	cr_expect_str_eq(device.path, expected);
	cr_assert_eq(chdir("home"), 0);
	cr_assert_eq(device_resolve(&tree.root, "mine", &device, &why), 0, "%s", why.text);
	cr_expect_str_eq(device.path, expected);
	cr_assert_eq(chdir("/"), 0);
}

Test(device, a_device_without_a_node)
{
	fake_tree_disk(&tree, "nvme0c0n1", 259, 99, 1000);
	fake_tree_remove(&tree, "/dev/nvme0c0n1");
	expect_failure("nvme0c0n1", -ENOENT, "/dev has no node for it");
	expect_failure("259:99", -ENOENT, "mknod NODE b 259 99");
	/* A node of that name for another device is no node for it. */
	fake_tree_node(&tree, "/dev/nvme0c0n1", S_IFBLK, 8, 0);
	expect_failure("nvme0c0n1", -ENOENT, "/dev has no node for it");
}

Test(device, without_sysfs)
{
	struct fake_tree bare;
	struct block_device device;

	fake_tree_init(&bare);
	fake_tree_node(&bare, "/dev/sda", S_IFBLK, 8, 0);
	cr_assert_eq(device_resolve(&bare.root, "/dev/sda", &device, &why), -ENOENT);
	cr_assert(strstr(why.text, "sysfs is not mounted"));
	fake_tree_deinit(&bare);
}

static int resolve(const char *a, const char *b)
{
	char *specs[] = {(char *)"dm-0", (char *)a, (char *)b};
	struct block_device devices[3] = {{.device = 1}, {.device = 2}, {.device = 3}};
	int r = devices_resolve(&tree.root, specs, 3, devices, &why);

	if (r < 0)
		cr_expect(devices[0].device == 1 && devices[2].device == 3, "touched");
	else
		cr_expect_eq(devices[0].device, 253 << 20);
	return r;
}

Test(device, several_need_a_queue_each)
{
	cr_assert_eq(resolve("sda", "nvme0n1"), 0, "%s", why.text);
	cr_assert_eq(resolve("sda", "/dev/sda"), -EINVAL);
	cr_assert_str_eq(why.text, "sda is given twice ('sda' and '/dev/sda')");
	cr_assert_eq(resolve("nvme0n1", "mapper/home"), -EINVAL);
	cr_assert_str_eq(why.text, "dm-0 is given twice ('dm-0' and 'mapper/home')");
	cr_assert_eq(resolve("sda", "sda2"), -EINVAL);
	cr_assert_str_eq(why.text, "sda2 is a partition of sda, and a disk has one trace; leave "
				   "sda2 away, the disk's trace has it");
	cr_assert_eq(resolve("sda2", "8:0"), -EINVAL);
	cr_assert(strstr(why.text, "sda2 is a partition of sda"));
	cr_assert_eq(resolve("sda1", "sda2"), -EINVAL);
	cr_assert_str_eq(why.text, "sda1 and sda2 are on the same disk, and a disk has one trace; "
				   "record sda instead");
	cr_assert_eq(resolve("sda", "sdz"), -ENOENT);
	cr_assert_eq(devices_resolve(&tree.root, NULL, 0, NULL, &why), 0);
}

Test(device_number, is_two_numbers)
{
	static const char *const bad[] = {"",	  "8",	  ":0",	  "8:",	   "8:0x",
					  "-8:0", " 8:0", "8: 0", "8:0:0", "12345678901:0"};
	dev_t number = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(device_number_parse(bad[i], &number), -EINVAL, "'%s'", bad[i]);
	cr_assert_eq(number, 7);
	cr_assert_eq(device_number_parse("259:1048575", &number), 0);
	cr_assert_eq(number, makedev(259, 1048575));
	cr_assert_eq(device_from_number(number), 259u << 20 | 1048575);
}
