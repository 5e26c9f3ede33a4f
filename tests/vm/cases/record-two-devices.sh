#!/bin/bash
# Two devices at once: each has its own events, all of them, and only those.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

a=$(vm_null_blk)
b=$(vm_scsi_debug)
no_merges "$a"
no_merges "$b"
record_start two -D logs "/dev/$a" "/dev/$b"
run_fio "$a" 1200 &
other=$!
run_fio "$b" 700
wait "$other"
record_end two INT 0
expect_eq 'name of the log' "logs/$a+$b.blkbox" "$(echo logs/*)"
export_raw logs/*.blkbox raw
export_old logs/*.blkbox old
for dev in "$a" "$b"; do
    ios=$(fio_ios "fio-$dev.json")
    count_records "raw/$dev"
    expect_eq "$dev: completions" "$ios" "${found[completions]}"
    expect_eq "$dev: missing sequence numbers" 0 "${found[gaps]}"
    expect_eq "$dev: device number" "$(<"/sys/block/$dev/dev")" "${found[devices]}"
    parse_actions "old/$dev"
    expect_eq "$dev: completions that blkparse sees" "$ios" "$(parsed C)"
done
expect_no_trace "$a" "$b"
