#!/bin/bash
# A bully that writes through the cache to a slow disk, and a victim whose small writes must get there: the report names
# both, and tells how long the victim was blocked, also if it is one of its threads, as it measured that itself.
# vm: long
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
need_blkbox
need python3

dev=$(vm_null_blk memory_backed=1 size=256)
# Without a journal: who waits for that of others is in D, but the kernel does not count it as block I/O.
dir=$(vm_mount "$dev" ext4 -q -O '^has_journal' -E lazy_itable_init=0)
sync
# Slow from here on: at the root of the hierarchy, for the kernel's own threads write what the cache had.
mkdir blkio
mount -t cgroup -o blkio none blkio || skip 'no blkio controller of cgroup v1'
echo "$(<"/sys/block/$dev/dev") $((15 << 20))" >blkio/blkio.throttle.write_bps_device ||
    skip 'no disk can be slowed down'
python3 "$(dirname "$0")/../../live/stall-victim.py" "$BLKBOX" "$dev" "$dir" || fail 'see above'
