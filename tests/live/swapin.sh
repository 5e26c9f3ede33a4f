#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that has more memory than its cgroup may have swaps: what the samples tell of its waits is
# what the kernel's taskstats count of it.
#
# Usage: swapin.sh BLKBOX
set -eu

. "$(dirname "$0")/start-lib.sh"

dir=$(mktemp -d)
zram= group= switch=/proc/sys/kernel/task_delayacct
[ -e $switch ] || skip "no switch of delay accounting"
before=$(cat $switch)
clean_up() {
	echo "$before" >$switch
	[ -z "$zram" ] || { swapoff "/dev/zram$zram" 2>/dev/null; echo "$zram" >/sys/class/zram-control/hot_remove; } || true
	[ -z "$group" ] || rmdir "$group"
	rm -rf "$dir"
}
trap clean_up EXIT

modprobe zram 2>/dev/null || true
[ -e /sys/class/zram-control/hot_add ] || skip "no zram"
for place in /sys/fs/cgroup/memory:memory.limit_in_bytes /sys/fs/cgroup:memory.max; do
	group=${place%%:*}/blkbox-swapin-$$ limit=${place#*:}
	[ -d "${place%%:*}" ] && mkdir "$group" 2>/dev/null || { group=; continue; }
	[ -e "$group/$limit" ] && break
	rmdir "$group"
	group=
done
[ -n "$group" ] || skip "no memory cgroup"
echo 40M >"$group/$limit"
zram=$(cat /sys/class/zram-control/hot_add)
echo 256M >"/sys/block/zram$zram/disksize"
mkswap "/dev/zram$zram" >/dev/null
swapon "/dev/zram$zram" 2>/dev/null || skip "swapon is refused"

# Tells its swap-in delay, in ns, as the kernel has it: before and after.
cat >"$dir/hog" <<'PYTHON'
import mmap, os, socket, struct, time
with open("/proc/self/comm", "w") as name:
    name.write("hog")
link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
link.bind((0, 0))
def ask(kind, command, attribute, data):
    body = struct.pack("HH", 4 + len(data), attribute) + data + b"\0" * (-len(data) % 4)
    link.send(struct.pack("IHHIIBBxx", 20 + len(body), kind, 1, 1, 0, command, 1) + body)
    return attributes(link.recv(8192)[20:])
def attributes(raw):
    found = {}
    while len(raw) >= 4:
        size, kind = struct.unpack_from("HH", raw)
        found[kind] = raw[4:size]
        raw = raw[size + 3 & ~3:]
    return found
family, = struct.unpack("H", ask(16, 3, 2, b"TASKSTATS\0")[1])
def swapin_ns():
    process = attributes(ask(family, 1, 2, struct.pack("I", os.getpid()))[5])
    return struct.unpack_from("6Q", process[3], 16)[5]
time.sleep(0.5)
print(swapin_ns(), flush=True)
memory = mmap.mmap(-1, 96 << 20)
end = time.monotonic() + 3
while time.monotonic() < end:
    for at in range(0, len(memory), 4096):
        memory[at] = 1
print(swapin_ns(), flush=True)
time.sleep(0.5)
PYTHON
hog() { (echo "$BASHPID" >"$group/cgroup.procs" && exec python3 "$dir/hog"); }

echo 1 >$switch
"$blkbox" stall --columns all --names hog --out "$dir/out.csv" --duration 6s &
sampler=$!
sleep 0.5
hog >"$dir/told"
wait $sampler
python3 - "$dir/out.csv" "$dir/told" <<'PYTHON' || fail "what was sampled is not what the kernel counted"
import csv, sys
with open(sys.argv[2]) as file:
    first, last = map(int, file.read().split())
with open(sys.argv[1], newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["proc"] == "hog"]
sampled = sum(int(row["d_swapin_ms"] or 0) for row in rows)
counted = (last - first) / 1e6
print(f"waits for swapped pages: {counted:.1f} ms counted, {sampled} ms sampled in {len(rows)} rows")
# Ticks below 5 ms have no row; each is rounded.
ticks = 32
sys.exit(not (counted > 50 and counted - 5.5 * (ticks - len(rows)) - 0.5 * len(rows) <= sampled <= counted + 0.5 * len(rows) + 1))
PYTHON

echo "== without the right to ask, or without the accounting, nothing is claimed"
for how in "setpriv --bounding-set=-net_admin --inh-caps=-net_admin" ""; do
	rm -f "$dir/out.csv"
	[ -n "$how" ] || echo 0 >$switch
	$how "$blkbox" stall --columns all --names hog --out "$dir/out.csv" --duration 5s &
	sampler=$!
	sleep 0.3
	hog >/dev/null
	wait $sampler
	python3 - "$dir/out.csv" "$how" <<'PYTHON' || fail "figures of nobody's"
import csv, sys
with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
notes = [row["proc"] for row in rows if row["proc"].startswith("NOTE")]
told = any("d_swapin_ms is empty" in note for note in notes)
sys.exit(any(row["d_swapin_ms"] for row in rows if row["proc"] == "hog") or told != bool(sys.argv[2]))
PYTHON
done
echo "ok"
