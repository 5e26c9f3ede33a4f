#!/bin/bash
# Debugfs that is somewhere else, hidden, or not there: the right sentence, or it is found.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
debug=/sys/kernel/debug
refused() { # NAME PATTERN ARG...
    record_run "$1" 1 --source relay "${@:3}" -o refused.blkbox "/dev/$dev" -- true
    grep -q "$2" "$1.err" || fail "the sentence lacks: $2"
    [[ ! -e refused.blkbox && ! -e refused.blkbox.part ]] || fail 'a log is left behind'
}
trap 'umount $debug 2>/dev/null; mount -t debugfs debugfs $debug' EXIT

refused no-debugfs '/tmp exists, but it is not debugfs' -r /tmp
refused no-path '/nonexistent' -r /nonexistent
! grep -q 'exists, but' no-path.err || fail 'it does not exist'

mount -t tmpfs none "$debug"
refused hidden "$debug is hidden by another mount"
umount "$debug"

umount -R "$debug"
refused unmounted 'debugfs is not mounted'
grep -q "'mount -t debugfs debugfs $debug'" unmounted.err || fail 'the sentence does not tell what to do'
mkdir elsewhere
mount -t debugfs debugfs elsewhere
record_run elsewhere 0 --source relay -o elsewhere.blkbox "/dev/$dev" -- dd "if=/dev/$dev" of=/dev/null iflag=direct bs=4k count=10 status=none
export_raw elsewhere.blkbox raw
count_records "raw/$dev"
expect_eq 'completions' 10 "${found[completions]}"
record_run given 0 --source relay -r "$PWD/elsewhere" -o given.blkbox "/dev/$dev" -- true
umount elsewhere
mount -t debugfs debugfs "$debug"
expect_no_trace "$dev"
