#!/bin/bash
# Events were lost at first: the report says so, and no latency is bent by it: none is longer than what fio saw.
# vm: timeout=300
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
# shellcheck source=../lib/recorder.sh
source "$(dirname "$0")/../lib/recorder.sh"
need chrt

dev=$(vm_null_blk)
no_merges "$dev"

# light NAME: 100 I/Os of two jobs, slowly.
light() {
    local words
    mapfile -t words < <(fio_args "$dev" 50 --rate_iops=100)
    "${words[@]}"
    mv "fio-$dev.json" "$1.json"
}

mapfile -t words < <(fio_args "$dev" 1500)
record_start lossy -b 4 -n 2 -o lossy.blkbox "/dev/$dev"
# Above the recorder's priority, so that its readers come too late.
chrt -f 20 "${words[@]}"
mv "fio-$dev.json" heavy.json
sleep 2
light behind
lost=$(kernel_dropped "$dev")
echo "the kernel lost $lost events"
((lost > 100)) || fail "the load was too small: the kernel lost $lost events"
record_end lossy INT 3

status=0
"$BLKBOX" report lossy.blkbox >report.txt 2>report.err || status=$?
cat report.txt report.err
expect_eq 'exit status of the report' 3 "$status"
grep -q "$lost events dropped" report.txt || fail 'the report does not tell the loss'
"$BLKBOX" report --json lossy.blkbox >all.json || true
"$BLKBOX" report --json --with-losses lossy.blkbox >with.json || true
python3 - "$lost" <<'PYTHON' || fail 'the figures are not what they should be'
import json
import sys

lost = int(sys.argv[1])
report, with_losses = (json.load(open(name)) for name in ("all.json", "with.json"))
device = report["devices"][0]
counts, ended = device["all"], device["all"]["unmatched"]["ios"]
light, longest = 0, 0
for name in "heavy", "behind":
    text = open(name + ".json").read()
    job = json.loads(text[text.index("{"):])["jobs"][0]
    light += (job["read"]["total_ios"] + job["write"]["total_ios"]) * (name != "heavy")
    longest = max(longest, job["read"]["clat_ns"]["max"], job["write"]["clat_ns"]["max"])
measured = counts["latency"]["q2c"]
checks = {
    "complete": not report["complete"],
    "dropped": device["dropped"] == report["dropped"] == lost,
    "touched": counts["unmatched"]["touched_by_loss"] + ended["loss"] > 0,
    "the light I/Os, which no loss touches": measured["n"] >= light,
    "measured + touched = completed": measured["n"] + counts["unmatched"]["touched_by_loss"] >= counts["ios"] -
                                      counts["unmatched"]["no_queue"],
    "the longest is not longer than fio's": measured["max_ns"] <= longest,
    "--with-losses has more": with_losses["devices"][0]["all"]["latency"]["q2c"]["n"] >= measured["n"],
    "depth is known for less time": device["depth"]["known_ns"] < report["to_ns"] - report["from_ns"],
}
for what, holds in checks.items():
    print("ok:" if holds else "FAILED:", what)
print(measured, counts["unmatched"], light, longest, device["loss_windows"], device["loss_ns"])
sys.exit(not all(checks.values()))
PYTHON
