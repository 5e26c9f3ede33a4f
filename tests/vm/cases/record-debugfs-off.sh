#!/bin/bash
# A kernel that was booted without debugfs.
# vm: append=debugfs=off
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
record_run off 1 --source relay -o off.blkbox "/dev/$dev" -- true
grep -q 'boot parameter debugfs=off' off.err || fail 'the sentence does not tell the boot parameter'
[[ ! -e off.blkbox && ! -e off.blkbox.part ]] || fail 'a log is left behind'
expect_eq 'a set-up' ENOENT "$(trace_ioctl probe "$dev")"
