#!/bin/bash
# Writes with O_DSYNC, which reach the device as FUA: all are there, also where protocol v1 would lose them.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_scsi_debug)
echo 'write back' >"/sys/class/block/$dev/device/scsi_disk/$(basename "$(readlink -f "/sys/block/$dev/device")")/cache_type" || true
expect_eq 'the device has FUA' 1 "$(<"/sys/block/$dev/queue/fua")"
no_merges "$dev"
mapfile -t words < <(fio_args "$dev" 400 --rw=randwrite --sync=dsync)
record_run fua 0 -o fua.blkbox "/dev/$dev" -- "${words[@]}"
ios=$(fio_ios "fio-$dev.json")
expect_eq 'writes of fio' 800 "$ios"
export_raw fua.blkbox raw
count_records "raw/$dev"
expect_eq 'completions of FUA writes' "$ios" "${found[fua_writes]}"
expect_eq 'missing sequence numbers' 0 "${found[gaps]}"
export_old fua.blkbox old
blkparse -q -i "old/$dev" -f '%a %d\n' >actions
expect_eq 'completions of FUA writes that blkparse sees' "$ios" "$(grep -cx 'C WFS\?' actions)"
expect_no_trace "$dev"

# The test can tell: a v1 trace on a kernel with v2 has none of them.
if has_v2; then
    blktrace -d "/dev/$dev" -o stock -a complete >blktrace.out 2>&1 &
    tracer=$!
    wait_for 10 has_trace "$dev" || fail "blktrace did not start: $(<blktrace.out)"
    run_fio "$dev" 10 --rw=randwrite --sync=dsync
    kill -INT "$tracer"
    wait "$tracer"
    count_records stock
    expect_eq 'FUA writes that a v1 trace has' 0 "${found[fua_writes]}"
fi
