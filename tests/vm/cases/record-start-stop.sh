#!/bin/bash
# A hundred starts and stops in a row leave nothing behind.
# vm: timeout=400
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
for n in {1..100}; do
    status=0
    timeout -k 5 20 "$BLKBOX" record -q -b 16 -n 4 --force -o run.blkbox "/dev/$dev" -- true 2>run.err || status=$?
    ((status == 0)) || fail "run $n: status $status: $(<run.err)"
    ! has_trace "$dev" || fail "run $n left a trace behind"
done
[[ ! -e run.blkbox.part && -s run.blkbox ]] || fail "the log is not finished: $(ls)"
expect_no_trace "$dev"
expect_no_status
