/* SPDX-License-Identifier: MIT */
/* Labels are looked up by libblkid on this machine, so this needs real devices: loop devices. */
#include "device.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>

struct loop {
	int fd; /* the device goes when this is closed */
	char path[32];
};

static void write_swap_header(int fd, const char *label, const char *uuid)
{
	uint8_t page[4096] = {0};

	page[1024] = 1;	 /* version */
	page[1028] = 15; /* last page */
	memcpy(page + 1036, uuid, 16);
	memcpy(page + 1052, label, strlen(label));
	memcpy(page + 4086, "SWAPSPACE2", 10);
	cr_assert_eq(ftruncate(fd, 65536), 0);
	cr_assert_eq(pwrite(fd, page, sizeof(page), 0), sizeof(page));
}

static void attach(struct loop *loop, const char *label, const char *uuid)
{
	_cleanup_close_ int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	_cleanup_close_ int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct loop_config config = {.fd = (uint32_t)file,
				     .info = {.lo_flags = LO_FLAGS_AUTOCLEAR}};

	if (control < 0 || file < 0)
		cr_skip_test("no loop devices for us here");
	write_swap_header(file, label, uuid);
	for (int tries = 0; tries < 20; tries++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);

		snprintf(loop->path, sizeof(loop->path), "/dev/loop%d", number);
		loop->fd = open(loop->path, O_RDWR | O_CLOEXEC);
		if (loop->fd < 0)
			cr_skip_test("no loop devices for us here");
		if (ioctl(loop->fd, LOOP_CONFIGURE, &config) == 0)
			return;
		close(loop->fd);
		cr_assert_eq(errno, EBUSY);
	}
	cr_assert_fail("every loop device is taken again and again");
}

Test(device_tag, finds_the_device_and_refuses_when_there_are_two)
{
	struct block_device device;
	struct sysroot root;
	struct why why = {""};
	struct loop one, two;
	char label[17], spec[64];
	int r;

	snprintf(label, sizeof(label), "bb %d", getpid());
	snprintf(spec, sizeof(spec), "LABEL=%s", label);
	cr_assert_eq(sysroot_open(&root, NULL), 0);
	cr_assert_eq(device_resolve(&root, spec, &device, &why), -ENOENT);

	attach(&one, label, "blkbox unit one.");
	cr_assert_eq(device_resolve(&root, spec, &device, &why), 0, "%s", why.text);
	cr_assert_str_eq(device.path, one.path);
	cr_assert_eq(device.sectors, 128);
	r = device_resolve(&root, "UUID=626c6b62-6f78-2075-6e69-74206f6e652e", &device, &why);
	cr_assert_eq(r, 0, "%s", why.text);
	cr_assert_str_eq(device.path, one.path);

	attach(&two, label, "blkbox unit two.");
	cr_assert_eq(device_resolve(&root, spec, &device, &why), -ENOTUNIQ);
	cr_assert(strstr(why.text, one.path) && strstr(why.text, two.path), "%s", why.text);
	close(one.fd);
	close(two.fd);
	sysroot_close(&root);
}
