#!/bin/bash
# A machine with kernel lockdown: relay is refused with a reason, auto falls back to ftrace, and that records it all.
# vm: append=lockdown=integrity
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../same-events-lib.sh
source "$(dirname "$0")/../same-events-lib.sh"
need_blkbox
need python3 taskset

mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
grep -q '\[integrity\]' /sys/kernel/security/lockdown || skip 'this kernel has no lockdown'
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
dev=$(same_events_device)
same_events_workload "$dev"
same_events_state >state.before

if "$BLKBOX" record --source relay -o relay.log "/dev/$dev" -- true 2>report.relay; then
    fail 'relay recorded under lockdown'
fi
grep -q 'lockdown' report.relay || { cat report.relay; fail 'the reason is not told'; }
expect_eq 'trace of the device after a refusal' 0 "$(cat "/sys/block/$dev/trace/enable")"

record() {
    "$BLKBOX" record -o "$1.log" "/dev/$dev" -- bash -c "$(declare -f same_events_workload); same_events_workload $dev" 2>"report.$1" ||
        { cat "report.$1"; fail "record ($1)"; }
    same_events_of "$1.log" >"events.$1"
}
record first
record second
grep -q 'ftrace, because relay channels cannot be had: .*lockdown' report.first || { cat report.first; fail 'the fall-back is not told'; }
same_events_compare events.first events.second
same_events_state >state.after
same_events_compare state.before state.after

# The workload itself: 400 random I/Os, 2 + 1 large ones, 30 FUA writes, 8 discards, 1 write-zeroes, 1 fsync.
python3 - events.first <<'PY' || fail 'the events are not those of the workload'
import sys
events = [line.split() for line in open(sys.argv[1])]
jobs, seed = [], 7
for i in range(400):
    seed = seed * 1103515245 + 12345 & 0x7fffffff
    size = 512 << seed % 6
    jobs.append(("W" if seed >> 8 & 1 else "R", (seed >> 9) % ((32 << 20) // size) * size // 512, size))
jobs += [("W", i * 128, 4096) for i in range(30)]
# Of the three large ones Q tells the whole, C the parts.
queued = sorted((e[1].lstrip("F")[0], int(e[2]), int(e[3])) for e in events if e[0] == "Q" and "D" not in e[1] and e[1] != "N")
small = [e for e in queued if e[2] < 300 << 10 and not (e[1] >= 40 << 11)]
expected = sorted(jobs)
missing = list(expected)
for e in small:
    if e in missing:
        missing.remove(e)
print(len(queued), "Q of reads and writes;", len(missing), "of the workload missing", missing[:5])
assert not missing
done = {}
for e in events:
    if e[0] == "C" and e[1].lstrip("F")[:1] in ("R", "W") and int(e[2]) < 40 << 11:
        done[e[1].lstrip("F")[0]] = done.get(e[1].lstrip("F")[0], 0) + int(e[3])
asked = {way: sum(j[2] for j in jobs if j[0] == way) for way in "RW"}
asked["W"] += (1 << 20) + (300 << 10)
asked["R"] += 1 << 20
print("bytes completed", done, "asked for", asked)
assert done == asked
PY
expect_eq 'discards' 8 "$(grep -c '^Q D' events.first)"
