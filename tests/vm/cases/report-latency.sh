#!/bin/bash
# The report against fio, which measured the same run: counts are equal; percentiles of fio's completion latency and of
# Q2C agree within what the two measuring points explain.
#
# fio's clock starts before the system call and stops behind the wake-up: each of its latencies is the Q2C of the same
# I/O and an overhead, the way in and out, which is the processor's time (an emulated and shared one's here).
# - Below: no percentile of fio's is less than that of Q2C, but for the errors of the histograms: fio's 1.6 %, ours 0.8 %.
# - Above: the median's overhead is at most OVERHEAD. The mean one is at most that and what a thread oversleeps on average
#   that sleeps as long as a device takes, in the same time: the way from a timer to who waits, without a block layer. It is
#   long where others use the processor, too. For the tails, an overhead of more than its mean
#   divided by b is found at a share b of I/Os at most (Markov), so that fio's 1-a-b percentile is not above the 1-a
#   percentile of Q2C and that.
# vm: timeout=400
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"

delay_ns=10000000
overhead_ns=4000000

# oversleep: until SIGTERM; then prints by how many nanoseconds on average, and how often it slept.
oversleep() {
    exec python3 -c '
import signal, sys, time
stopped = []
signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
delay, over, n = int(sys.argv[1]), 0, 0
while not stopped:
    before = time.monotonic_ns()
    time.sleep(delay / 1e9)
    over, n = over + time.monotonic_ns() - before - delay, n + 1
print(over // n, n)' "$delay_ns"
}

check() {
    local dev=$1 words sleeper
    no_merges "$dev"
    mapfile -t words < <(fio_args "$dev" 400)
    oversleep >"$dev.oversleep" &
    sleeper=$!
    record_run "$dev" 0 -o "$dev.blkbox" "/dev/$dev" -- "${words[@]}"
    kill "$sleeper"
    wait "$sleeper" || fail 'the sleeper fails'
    "$BLKBOX" report "$dev.blkbox" --stages || fail 'report fails'
    "$BLKBOX" report --json "$dev.blkbox" >"$dev.json" || fail 'report --json fails'
    python3 - "$dev" "$delay_ns" "$overhead_ns" <<'PYTHON' || fail "the report of $dev and fio do not agree"
import json
import sys

dev, delay = sys.argv[1], int(sys.argv[2])
oversleep, sleeps = map(int, open(dev + ".oversleep").read().split())
overhead = int(sys.argv[3])
print(f"a sleeper oversleeps by {oversleep} ns, {sleeps} times: no mean is more than {overhead + oversleep} ns apart")
report = json.load(open(dev + ".json"))
text = open(f"fio-{dev}.json").read()
job = json.loads(text[text.index("{"):])["jobs"][0]
bad = 0


def expect(condition, text):
    global bad
    print("ok:" if condition else "FAILED:", dev, text)
    bad |= not condition


expect(report["complete"], "is complete")
device = report["devices"][0]
for group in device["operations"]:
    operation = group["operation"]
    if operation not in ("read", "write"):
        continue
    fio = job[operation]
    ios = fio["total_ios"]
    for stage in "q2c", "d2c", "request_d2c":
        expect(group["latency"][stage]["n"] == ios, f"{operation}: {stage} n {group['latency'][stage]['n']} = {ios}")
    expect(group["bytes"] == fio["io_bytes"], f"{operation}: bytes {group['bytes']} = {fio['io_bytes']}")
    expect(group["latency"]["d2c"]["min_ns"] >= delay, f"{operation}: D2C at least {delay}: "
           f"{group['latency']['d2c']['min_ns']}")
    mean = group["latency"]["q2c"]["mean_ns"]
    expect(mean <= fio["clat_ns"]["mean"] <= mean + overhead + oversleep,
           f"{operation}: mean: Q2C {mean:.0f}, fio {fio['clat_ns']['mean']:.0f}")
    own = fio["clat_ns"]["mean"] - mean
    q2c, clat = group["latency"]["q2c"], fio["clat_ns"]["percentile"]
    expect(clat["50.000000"] <= 1.024 * q2c["p50_ns"] + overhead, f"{operation}: median: Q2C {q2c['p50_ns']}, "
           f"fio {clat['50.000000']}")
    for theirs, ours, above, share in (("50", "p50", "p90", 0.4), ("90", "p90", "p95", 0.05),
                                       ("95", "p95", "p99", 0.04), ("99", "p99", "p99.9", 0.009)):
        found = clat[theirs + ".000000"]
        expect(0.976 * q2c[ours + "_ns"] <= found <= 1.024 * q2c[above + "_ns"] + own / share,
               f"{operation}: {ours}: Q2C {q2c[ours + '_ns']}, fio {found}")
    expect(q2c["max_ns"] <= fio["clat_ns"]["max"], f"{operation}: max: Q2C {q2c['max_ns']}, fio {fio['clat_ns']['max']}")
sys.exit(bad)
PYTHON
}

check "$(vm_null_blk irqmode=2 completion_nsec=$delay_ns)"
check "$(vm_scsi_debug ndelay=$delay_ns)"
