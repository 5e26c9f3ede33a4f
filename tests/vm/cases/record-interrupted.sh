#!/bin/bash
# Starts that are interrupted at random moments: never a hang, and nothing is left behind.
# vm: timeout=400
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

dev=$(vm_null_blk)
signals=(INT TERM HUP)
RANDOM=1
declare -A seen=()
for n in {1..100}; do
    signal=${signals[n % 3]}
    # A shell without job control gives its background processes an ignored SIGINT.
    env --default-signal=INT,TERM,HUP "$BLKBOX" record -b 16 -n 4 -o "$n.blkbox" "/dev/$dev" 2>run.err &
    recorder=$!
    # Until env has started it, the ignored SIGINT would just be lost.
    until [[ $(</proc/$recorder/comm) == blkbox ]]; do :; done
    sleep "$(printf '0.%03d' $((RANDOM % 300)))"
    kill "-$signal" "$recorder"
    # What hangs is killed, and gives 137.
    (sleep 15; kill -9 "$recorder") 2>/dev/null &
    watchdog=$!
    status=0
    wait "$recorder" || status=$?
    kill "$watchdog" 2>/dev/null || true
    seen[$status]=$((${seen[$status]:-0} + 1))
    case $status in
        0 | 129 | 130 | 143) ;;
        *) fail "run $n, $signal: status $status: $(<run.err)" ;;
    esac
    ! has_trace "$dev" || fail "run $n, $signal: a trace is left behind; status $status: $(<run.err)"
    [[ ! -e $n.blkbox.part ]] || fail "run $n, $signal: an unfinished log is left behind; status $status: $(<run.err)"
    # Where there was a recording, there is a log.
    ((status != 0)) || [[ -s $n.blkbox ]] || fail "run $n, $signal: no log: $(<run.err)"
done
for status in "${!seen[@]}"; do echo "status $status: ${seen[$status]} times"; done
# Or it was always too early.
((${seen[0]:-0} > 0)) || fail 'no recording had started'
expect_no_trace "$dev"
expect_no_status
