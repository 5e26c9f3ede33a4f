#!/bin/bash
# A device mapper device together with the disk below it.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

lower=$(vm_null_blk)
upper=$(vm_dm_linear "$lower")
no_merges "$lower"
record_start dm -o dm.blkbox "/dev/mapper/linear-$lower" "$lower"
run_fio "$upper" 1000
record_end dm INT 0
ios=$(fio_ios "fio-$upper.json")
export_raw dm.blkbox raw
count_records "raw/$upper"
expect_eq 'completions of the upper device' "$ios" "${found[completions]}"
expect_eq 'the upper device issues no requests' 0 "${found[issues]}"
expect_eq 'missing sequence numbers of the upper device' 0 "${found[gaps]}"
count_records "raw/$lower"
expect_eq 'completions of the lower device' "$ios" "${found[completions]}"
expect_eq 'issues of the lower device' "$ios" "${found[issues]}"
expect_eq 'missing sequence numbers of the lower device' 0 "${found[gaps]}"
export_old dm.blkbox old
parse_actions "old/$lower"
expect_eq 'remaps that blkparse sees' "$ios" "$(parsed A)"
expect_no_trace "$upper" "$lower"
