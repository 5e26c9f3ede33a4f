#!/bin/bash
# A bully that writes through the cache to a slow disk, and a victim whose small writes must get there: the samples
# tell how long the victim was blocked, also if it is one of its threads, as it measured that itself.
#
# An emulated processor comes to the victim late at times, behind the end of its wait: what it measured is then more
# than what it was blocked for, or it is less, for it began late. One stall of several must agree within 20 ms.
# vm: timeout=500
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

# report_agrees NAME SAMPLED_MS BEGAN ENDED: who was blocked and for how long in that time, who wrote, what moved.
report_agrees() {
    local status=0
    "$BLKBOX" stall report "$1.csv" || status=$?
    expect_eq 'exit status of the report' 0 "$status"
    "$BLKBOX" stall report --json --threshold 1ms "$1.csv" >"$1.json"
    python3 - "$1.json" "${@:2}" <<'EOF'
import json, sys
sampled, began, ended = map(float, sys.argv[2:5])
# Waits in state D that were not accounted for are about right only.
found = [(v["longest_ms"], s) for s in json.load(open(sys.argv[1]))["stalls"] for v in s["victims"]
         if v["name"] == "victim" and v["measured"] and v["end_ns"] > began * 1e9 and v["start_ns"] < ended * 1e9]
if not found:
    sys.exit("the report does not know the victim")
longest, worst = max(found, key=lambda f: f[0])
print("victim", round(longest), "ms; bully", worst["writers"][0]["name"], "; moved", worst["mechanisms"])
# A call may be several waits, of which the report tells the longest at once.
sys.exit(not (longest >= 0.3 * sampled and worst["writers"][0]["name"] == "bully" and
              "writeback burst" in worst["mechanisms"]))
EOF
}

tries=6
# one_stall NAME [thread]: some stalls, until what was sampled is what was measured.
one_stall() {
    local try
    for ((try = 1; try <= tries; try++)); do
        make_stall "$@"
        ((${difference#-} > 20 || ! agrees)) || return 0
        ((${difference#-} <= 500)) || fail "$difference ms off"
    done
    fail "in each of $tries stalls more than 20 ms off, nobody blocked, or the report wrong"
}

# make_stall NAME [thread]
make_stall() {
    local name=$1 sampler victim wchar_kb wbytes_kb status=0
    shift
    rm -f "$name".*
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
    difference=$((blocked_ms - measured_ms))
    # It may not have been blocked for long, or have begun late; in its last tick the bully may have ended.
    agrees=1
    ((measured_ms >= 100 && in_d > 0 && wchar_kb > 90000 && wbytes_kb > 90000)) || agrees=0
    grep -q 'victim (.*has been blocked for' "$name.err" || agrees=0
    report_agrees "$name" "$blocked_ms" "$began" "$ended" || agrees=0
}

before=$(cat /proc/sys/kernel/task_delayacct 2>/dev/null || true)
one_stall process
expect_eq 'its worst thread' victim "$worst"
one_stall thread thread
expect_eq 'its worst thread' worker "$worst"
expect_eq 'delay accounting afterwards' "$before" "$(cat /proc/sys/kernel/task_delayacct 2>/dev/null || true)"
