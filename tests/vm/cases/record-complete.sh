#!/bin/bash
# What fio did is what is recorded, on two drivers, as the kernel, blkparse, blkrawverify and our own reader count it.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"
need blkrawverify

check() {
    local dev=$1 ios words
    no_merges "$dev"
    mapfile -t words < <(fio_args "$dev" 1500)
    record_run "$dev" 0 -o "$dev.blkbox" "/dev/$dev" -- "${words[@]}"
    ios=$(fio_ios "fio-$dev.json")
    export_raw "$dev.blkbox" raw
    count_records "raw/$dev"
    expect_eq "$dev: completions" "$ios" "${found[completions]}"
    expect_eq "$dev: issues" "$ios" "${found[issues]}"
    expect_eq "$dev: missing sequence numbers" 0 "${found[gaps]}"
    expect_eq "$dev: sequence numbers that go back" 0 "${found[backwards]}"
    "$BLKBOX" verify "$dev.blkbox" || fail 'verify finds fault'
    expect_eq "$dev: events, dropped, complete, protocol" "${found[events]} 0 True $(has_v2 && echo 2 || echo 1)" \
        "$(info "$dev.blkbox" '" ".join(map(str, (d["events"], d["dropped"], d["complete"], d["protocol"])))')"
    export_old "$dev.blkbox" old
    parse_actions "old/$dev"
    expect_eq "$dev: completions that blkparse sees" "$ios" "$(parsed C)"
    expect_eq "$dev: events that blkparse sees" "${found[events]}" "$(grep -c . actions)"
    (cd old && blkrawverify "$dev") || fail "blkrawverify refuses the files of $dev: $(<"old/$dev.verify.out")"
    cat "old/$dev.verify.out"
    expect_no_trace "$dev"
}

check "$(vm_null_blk)"
check "$(vm_scsi_debug)"
