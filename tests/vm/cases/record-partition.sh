#!/bin/bash
# A partition: its own I/O is recorded, that of its neighbour is not.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"
need addpart

dev=$(vm_null_blk)
no_merges "$dev"
addpart "/dev/$dev" 1 2048 204800
addpart "/dev/$dev" 2 206848 204800
wait_for 5 test -b "/dev/${dev}p2" || fail 'no partitions'
before=$(device_ios "${dev}p2")
record_start part -o part.blkbox "/dev/${dev}p2"
run_fio "${dev}p1" 300
run_fio "${dev}p2" 900
expect_eq 'I/Os that the kernel counts' "$(fio_ios "fio-${dev}p2.json")" "$(($(device_ios "${dev}p2") - before))"
record_end part INT 0
ios=$(fio_ios "fio-${dev}p2.json")
export_raw part.blkbox raw
count_records "raw/${dev}p2"
expect_eq 'completions' "$ios" "${found[completions]}"
expect_eq 'missing sequence numbers' 0 "${found[gaps]}"
export_old part.blkbox old
parse_actions "old/${dev}p2"
expect_eq 'completions that blkparse sees' "$ios" "$(parsed C)"
expect_no_trace "${dev}p2" "$dev"
