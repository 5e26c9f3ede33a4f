#!/bin/bash
# A bully that writes through the cache to a slow disk, and a victim whose small writes must get there: the samples
# tell how long the victim was blocked, also if it is one of its threads, as it measured that itself.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
need_blkbox
need python3
lib=$(dirname "$0")/../lib

dev=$(vm_null_blk memory_backed=1 size=512 mbps=30)
# Without a journal: who waits for that of others is in D, but the kernel does not count it as block I/O.
dir=$(vm_mount "$dev" ext4 -q -O '^has_journal')
cp "$(command -v dd)" bully

is_ready() { [[ $(<"/proc/$1/comm") == victim ]]; }

# one_stall NAME [thread]
one_stall() {
    local name=$1 sampler victim status=0 difference
    shift
    "$BLKBOX" stall --names victim,bully --disk "$dev" --columns all --enable-delayacct --alert 200ms \
        --out "$name.csv" 2>"$name.err" &
    sampler=$!
    wait_for 5 test -s "$name.csv" || fail 'no samples'
    expect_eq 'delay accounting while it runs' 1 "$(cat /proc/sys/kernel/task_delayacct 2>/dev/null || echo 1)"
    python3 "$lib/stall-victim.py" "$dir/small" "$name.stop" "$@" >"$name.measured" &
    victim=$!
    wait_for 20 is_ready "$victim" || fail 'no victim'
    sleep 1.5
    ./bully if=/dev/zero of="$dir/big" bs=1M count=100 status=none
    sync -f "$dir"
    sleep 1
    touch "$name.stop"
    wait "$victim"
    kill -INT "$sampler"
    wait "$sampler" || status=$?
    cat "$name.err"
    expect_eq 'exit status' 0 "$status"
    rm "$dir/big"
    sync
    read -r measured_ms began ended <"$name.measured"
    # Two ticks behind the end it has been told of for sure.
    read -r blocked_ms _ _ in_d worst < <(python3 "$lib/stall-sums.py" "$name.csv" victim "$began" "$(awk "BEGIN { print $ended + 0.25 }")")
    read -r _ wchar_kb wbytes_kb _ _ < <(python3 "$lib/stall-sums.py" "$name.csv" bully)
    echo "$name: measured $measured_ms ms, sampled $blocked_ms ms, $in_d times in D"
    ((measured_ms >= 100)) || fail 'nobody stalled'
    difference=$((blocked_ms - measured_ms))
    ((${difference#-} <= 20)) || fail "$difference ms off"
    ((in_d > 0)) || fail 'never seen in D'
    # In its last tick it may have ended.
    ((wchar_kb > 90000 && wbytes_kb > 90000)) || fail "the bully wrote $wchar_kb kB, $wbytes_kb kB to the device"
    grep -q 'victim (.*has been blocked for' "$name.err" || fail 'no alert'
    # What `stall report` makes of it.
    if [[ $(type -t check_report) == function ]]; then check_report "$name" "$measured_ms"; fi
}

before=$(cat /proc/sys/kernel/task_delayacct 2>/dev/null || true)
one_stall process
expect_eq 'its worst thread' victim "$worst"
one_stall thread thread
expect_eq 'its worst thread' worker "$worst"
expect_eq 'delay accounting afterwards' "$before" "$(cat /proc/sys/kernel/task_delayacct 2>/dev/null || true)"
