#!/bin/bash
# Under lockdown the relay files are closed: said in words, and nothing is left behind.
# vm: append=lockdown=integrity
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

grep -q '\[integrity\]' /sys/kernel/security/lockdown || skip 'this kernel knows no lockdown'
dev=$(vm_null_blk)
record_run locked 1 --source relay -o locked.blkbox "/dev/$dev" -- touch command-ran
grep -qi lockdown locked.err || fail 'the sentence does not name the lockdown'
[[ ! -e locked.blkbox && ! -e locked.blkbox.part ]] || fail 'a log is left behind'
[[ ! -e command-ran ]] || fail 'the command was run'
expect_no_trace "$dev"
