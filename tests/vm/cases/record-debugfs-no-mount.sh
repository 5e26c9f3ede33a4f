#!/bin/bash
# A kernel that was booted with debugfs for its own use only.
# vm: append=debugfs=no-mount
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
record_run no-mount 1 --source relay -o no-mount.blkbox "/dev/$dev" -- true
grep -q 'boot parameter debugfs=no-mount' no-mount.err || fail 'the sentence does not tell the boot parameter'
[[ ! -e no-mount.blkbox && ! -e no-mount.blkbox.part ]] || fail 'a log is left behind'
# Without the file system the kernel makes no directory either.
expect_eq 'a set-up' ENOENT "$(trace_ioctl probe "$dev")"
