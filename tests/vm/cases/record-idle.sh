#!/bin/bash
# While nothing happens, the recorder sleeps.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
wakes() { awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }' /proc/"$recorder"/task/*/status; }
record_start idle -o idle.blkbox "/dev/$dev"
sleep 1
before=$(wakes)
tasks=(/proc/"$recorder"/task/*)
sleep 10
woken=$(($(wakes) - before))
record_end idle INT 0
echo "${#tasks[@]} threads, $woken wake-ups in 10 s"
((${#tasks[@]} >= 4)) || fail 'too few threads: what was measured?'
((woken < 50)) || fail "too many wake-ups: $woken in 10 s"
((woken > 0)) || fail 'no wake-ups at all: what was measured?'
expect_no_trace "$dev"
