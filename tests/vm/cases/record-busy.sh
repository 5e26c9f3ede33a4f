#!/bin/bash
# A disk has one trace: who comes second is refused, told whose it is, and does no harm.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"
need addpart

dev=$(vm_null_blk)
no_merges "$dev"
addpart "/dev/$dev" 1 2048 204800
wait_for 5 test -b "/dev/${dev}p1" || fail 'no partition'
record_start first -o first.blkbox "/dev/$dev"
run_fio "$dev" 600 &
load=$!
for second in "$dev" "${dev}p1"; do
    record_run second 1 -o second.blkbox "/dev/$second" -- true
    grep -qE "$dev is being traced.*\b$recorder\b" second.err || fail "no word of the owner, pid $recorder"
    [[ ! -e second.blkbox && ! -e second.blkbox.part ]] || fail 'a log of a refused recording is left behind'
done
# A device that could be had must not stay set up.
other=$(vm_null_blk)
record_run both 1 -o both.blkbox "/dev/$other" "/dev/$dev" -- true
expect_no_trace "$other"
wait "$load"
record_end first INT 0
export_raw first.blkbox raw
count_records "raw/$dev"
expect_eq 'completions' "$(fio_ios "fio-$dev.json")" "${found[completions]}"
expect_eq 'missing sequence numbers' 0 "${found[gaps]}"
expect_no_trace "$dev"
