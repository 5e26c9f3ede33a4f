#!/bin/bash
# SPDX-License-Identifier: MIT
# A real stall on a loop device that the block layer slows down: who was blocked, and for how long.
#
# Usage: stall-victim.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
blkbox=$(realpath "$blkbox")
slow_bytes=$((15 << 20)) # a second
# In memory: nobody else's disk decides how long it takes.
dir=$(mktemp -d -p /dev/shm)
loop=
# Throttled at the root of the hierarchy: the kernel's own threads write what the cache had.
limit=
for file in /sys/fs/cgroup/blkio/blkio.throttle.write_bps_device; do
	[ ! -w "$file" ] || limit=$file
done
[ -n "$limit" ] || skip "no disk can be slowed down here (no blkio controller of cgroup v1)"
[ -e /proc/thread-self/schedstat ] || skip "this kernel does not tell how long a thread waits for a CPU"

clean_up() {
	cd /
	umount "$dir/mnt" 2>/dev/null || true
	[ -z "$loop" ] || echo "$(cat "/sys/block/${loop#/dev/}/dev") 0" >"$limit" || true
	[ -z "$loop" ] || losetup -d "$loop"
	rm -rf "$dir"
}
trap clean_up EXIT

truncate -s 256M "$dir/disk"
loop=$(losetup --find --show "$dir/disk") || skip "no loop device"
# Without a journal: who waits for that is in D, but the kernel does not count it as block I/O.
mkfs.ext4 -q -O '^has_journal' -E lazy_itable_init=0 "$loop"
mkdir "$dir/mnt" "$dir/work"
mount "$loop" "$dir/mnt"
sync
echo "$(cat "/sys/block/${loop#/dev/}/dev") $slow_bytes" >"$limit"
cd "$dir/work"
python3 "$here/stall-victim.py" "$blkbox" "${loop#/dev/}" "$dir/mnt" || fail "see above"
