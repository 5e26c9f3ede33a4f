#!/bin/bash
# The samples go to the very disk that does not answer for two seconds: not one is missed.
#
# An emulated processor may be slow enough for a tick to be missed because of that alone. If sampling waited for its
# output, there would be a gap of two seconds in each round; one round without any will do.
# vm: timeout=300 parallel
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
need_blkbox
need python3 dmsetup chrt

below=$(vm_null_blk memory_backed=1 size=128)
dm=$(vm_dm_linear "$below" stalls)
dir=$(vm_mount "$dm" ext4 -q)
rounds=8

threads_in_d() { grep -l '^State:.D' /proc/"$1"/task/*/status 2>/dev/null | wc -l; }
now() { awk '{ print $1 }' /proc/uptime; }

chrt -f 50 "$BLKBOX" stall --out "$dir/samples.csv" 2>stall.err &
pid=$!
wait_for 5 test -s "$dir/samples.csv" || fail 'no samples'
sleep 1
for ((round = 0; round < rounds; round++)); do
    # It is frozen: whoever writes to it waits.
    dmsetup suspend stalls
    now >>began
    sleep 2
    in_d=$(threads_in_d "$pid")
    now >>ended
    dmsetup resume stalls
    ((in_d == 1)) || fail "$in_d threads were blocked, not the writer alone"
    sleep 0.5
done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
cat stall.err
expect_eq 'exit status' 0 "$status"
python3 - "$dir/samples.csv" began ended <<'PY' || fail 'samples are missed while the disk stalls'
import csv, sys
with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
ticks = [float(row["mono"]) for row in rows if row["proc"] == "SYS"]
good = 0
worst = 0
for began, ended in zip(*(map(float, open(name)) for name in sys.argv[2:4])):
    gaps = [b - a for a, b in zip(ticks, ticks[1:]) if b > began and a < ended]
    print(f"{len(gaps)} samples in the {ended - began:.2f} s of the stall, the longest gap is {max(gaps):.3f} s")
    worst = max(worst, *gaps)
    good += max(gaps) < 0.199
lost = [row["proc"] for row in rows if row["proc"].startswith("NOTE") and "lost" in row["proc"]]
print(*lost, sep="\n")
sys.exit(bool(lost) or not good or worst > 1.5)
PY

# Killed while it is blocked within write(2): whole rows are left.
rm "$dir/samples.csv"
"$BLKBOX" stall --hz 50 --out "$dir/samples.csv" 2>/dev/null &
pid=$!
wait_for 5 test -s "$dir/samples.csv" || fail 'no samples'
dmsetup suspend stalls
sleep 1
kill -KILL "$pid"
dmsetup resume stalls
wait "$pid" || true
sleep 1
expect_eq 'the last byte' 0a "$(tail -c 1 "$dir/samples.csv" | od -An -tx1 | tr -d ' ')"
python3 - "$dir/samples.csv" <<'PY' || fail 'half a row'
import csv, sys
with open(sys.argv[1], newline="") as file:
    sys.exit(any(len(row) != 17 for row in csv.reader(file)))
PY
