/* SPDX-License-Identifier: MIT */
#include "file_system.h"

#include <stddef.h>

/* Magic numbers: linux/magic.h and the file systems' own headers; labels: stat(1) of coreutils. */
static const struct file_system known[] = {
	{0xef53, "ext2/ext3", "ext", FS_DEVICE, false, true},
	{0x58465342, "xfs", "xfs", FS_DEVICE, true, true},
	{0x9123683e, "btrfs", "btrfs", FS_DEVICE, true},
	{0x01021994, "tmpfs", "tmpfs", FS_MEMORY, false},
	{0x858458f6, "ramfs", "ramfs", FS_MEMORY, false},
	{0x794c7630, "overlayfs", "overlay", FS_UNKNOWN, true},
	{0xf2f52010, "f2fs", "f2fs", FS_DEVICE, false, true},
	{0xca451a4e, "bcachefs", "bcachefs", FS_UNKNOWN, true},
	{0x2fc12fc1, "zfs", "zfs", FS_UNKNOWN, true},
	{0x3153464a, "jfs", "jfs", FS_DEVICE, false},
	{0x52654973, "reiserfs", "reiserfs", FS_DEVICE, false},
	{0x4d44, "msdos", "fat", FS_DEVICE, false},
	{0x2011bab0, "exfat", "exfat", FS_DEVICE, false},
	{0x5346544e, "ntfs", "ntfs", FS_UNKNOWN, false},
	{0x65735546, "fuseblk", "fuse", FS_UNKNOWN, false},
	{0x6969, "nfs", "nfs", FS_UNKNOWN, true},
	{0xff534d42, "cifs", "cifs", FS_UNKNOWN, true},
	{0xfe534d42, "smb2", "smb2", FS_UNKNOWN, true},
	{0x01021997, "v9fs", "9p", FS_UNKNOWN, false},
};

struct file_system file_system_by_magic(uint64_t magic)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].magic == magic)
			return known[i];
	}
	return (struct file_system){.magic = magic, .name = "unknown"};
}
