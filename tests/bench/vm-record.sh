#!/bin/bash
# In a guest (tests/vm/boot): what a recorder costs a null_blk device that two busy threads use, and what it loses.
# Prints one JSON object.
#
# Usage: vm-record.sh SECONDS RUNS
# shellcheck source=../vm/guest-lib.sh
source "$(dirname "$0")/../vm/guest-lib.sh"
need fio blktrace python3
need_blkbox
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
dev=$(vm_null_blk)
# One request for each I/O.
echo 2 >"/sys/block/$dev/queue/nomerges"
exec python3 "$(dirname "$0")/vm_record.py" "$BLKBOX" "$dev" "$@"
