# SPDX-License-Identifier: MIT
"""What recorders cost and lose: vm_record.py BLKBOX DEVICE SECONDS RUNS, in a guest. One JSON object on stdout.

Runs take turns, each time in another order:
  none      nobody traces
  floor     the kernel traces into buffers that hold all of it, and nobody reads them
  blktrace  with its default buffers, 4 of 512 KiB for each CPU
  ours      blkbox with the same buffers
  plain     the same with --no-compress
"""
import contextlib
import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BUFFERS = ["-b", "512", "-n", "4"]
blkbox, device, seconds, runs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
node = f"/dev/{device}"
trace = f"/sys/kernel/debug/block/{device}"
trace_ioctl = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../vm/lib/trace-ioctl.py")


def fio():
    """I/Os per second of two threads that never wait for long."""
    done = subprocess.run(["fio", "--name=bench", f"--filename={node}", "--rw=randrw", "--bs=4k", "--direct=1",
                           "--ioengine=psync", "--numjobs=2", "--size=32m", "--time_based", f"--runtime={seconds}",
                           "--group_reporting", "--output-format=json"], stdout=subprocess.PIPE, check=True)
    job = json.loads(done.stdout[done.stdout.index(b"{"):])["jobs"][0]
    return job["read"]["iops"] + job["write"]["iops"]


def dropped():
    with open(f"{trace}/dropped") as file:
        return int(file.read())


def events_of(log):
    done = subprocess.run([blkbox, "info", "--json", log], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = json.loads(done.stdout)
    return found["events"]


def traced(command, log, place):
    """Of fio beside a recorder."""
    with open(os.path.join(place, "err"), "wb") as err:
        process = subprocess.Popen(command, cwd=place, stdout=err, stderr=err)
        while not os.path.exists(f"{trace}/dropped"):
            if process.poll() is not None:
                sys.exit(f"vm_record: {command}: {open(err.name).read()}")
            time.sleep(0.05)
        time.sleep(1)
        iops = fio()
        time.sleep(0.3)
        lost = dropped()
        process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    size = sum(os.path.getsize(path) for path in glob.glob(os.path.join(place, "log*")))
    return {"iops": iops, "dropped": lost, "cpu_s": usage.ru_utime + usage.ru_stime, "bytes": size,
            "events": events_of(os.path.join(place, log))}


def floor(place):
    subprocess.run([trace_ioctl, "setup", node, str(4 << 20), "16"], check=True)
    try:
        return {"iops": fio(), "dropped": dropped()}
    finally:
        for step in "stop", "teardown":
            subprocess.run([trace_ioctl, step, node], check=True)


WAYS = {
    "none": lambda place: {"iops": fio()},
    "floor": floor,
    "blktrace": lambda place: traced(["blktrace", "-d", node, "-o", "log"] + BUFFERS, "log", place),
    "ours": lambda place: traced([blkbox, "record", "-q", "--source", "relay", "-o", "log", node] + BUFFERS, "log", place),
    "plain": lambda place: traced([blkbox, "record", "-q", "--no-compress", "--source", "relay", "-o", "log", node] +
                                  BUFFERS, "log", place),
}

fio()
found = {name: [] for name in WAYS}
names = list(WAYS)
for turn in range(runs):
    for name in names[turn % len(names):] + names[:turn % len(names)]:
        place = tempfile.mkdtemp(prefix="bench-")
        with contextlib.closing(open("/dev/kmsg", "w")) as console:
            print(f"bench: {name}", file=console)
        found[name].append(WAYS[name](place))
        shutil.rmtree(place)
result = {"kernel": os.uname().release}
for name, all_runs in found.items():
    result[name] = {key: statistics.median(run[key] for run in all_runs) for key in all_runs[0]}
    # Lost events are never averaged away.
    if "dropped" in result[name]:
        result[name]["dropped"] = sum(run["dropped"] for run in all_runs)
        result[name]["of"] = sum(run.get("events", 0) + run["dropped"] for run in all_runs)
print(json.dumps(result))
