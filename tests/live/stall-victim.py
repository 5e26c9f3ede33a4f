#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stall-victim.py BLKBOX DISK DIR: a real stall, and what `blkbox stall` and its report tell of it.

DIR is on the slow disk DISK. A bully writes through the cache, and a victim writes a little, again and again, that must
get to the disk: once by its first thread, once by another one. The report has to name both, and has to tell how long
the victim was blocked to 20 ms of what that measured itself: by no accounting of block I/O, but as the time that passed
and was spent neither on a CPU nor in waiting for one.
"""
import csv
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time

BULLY_MIB = int(os.environ.get("STALL_BULLY_MIB", 24))
BOUND_MS = 20
TIGHT_S = 0.003
MCL_CURRENT, MCL_FUTURE = 1, 2
SWITCH = "/proc/sys/kernel/task_delayacct"
LIBC = ctypes.CDLL(None)


def name_oneself(name):
    with open("/proc/thread-self/comm", "w") as comm:
        comm.write(name)


class Sleep:
    """Seconds that the calling thread has slept by now, since some moment."""

    def __init__(self):
        self.fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY)

    def now(self):
        """Three clocks at one moment: if something came in between, once more. That takes no sleep itself."""
        while True:
            began = time.monotonic()
            waited = int(os.pread(self.fd, 100, 0).split()[1]) / 1e9
            ran = time.thread_time()
            if time.monotonic() - began < TIGHT_S:
                return began - ran - waited


def write(path, stop, calls):
    """Calls, each as (began, ended, seconds asleep)."""
    fd = os.open(path, os.O_RDWR)
    sleep = Sleep()
    while not stop.is_set():
        before, began = sleep.now(), time.monotonic()
        os.pwrite(fd, b"x" * 512, 0)
        os.fdatasync(fd)
        ended, after = time.monotonic(), sleep.now()
        calls.append((began, ended, after - before))
        time.sleep(0.1)


def be_bully(path):
    """As fast as a logger may, and through the cache; it is there for some ticks."""
    name_oneself("bully")
    with open(path, "wb", buffering=0) as file:
        for _ in range(BULLY_MIB):
            file.write(bytes(1 << 20))
            time.sleep(0.02)
    time.sleep(0.3)


def be_victim(path, in_thread, order):
    """Until a line comes; then its calls."""
    # Or it would wait for pages of its own program, too, and not know.
    LIBC.mlockall(MCL_CURRENT | MCL_FUTURE)
    # As control processes are. Since 6.12, the kernel tells some waits of others too long: it starts to count in the
    # thread that comes next on the CPU, and so the one that waits has the start of its last wait.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    calls, stop = [], threading.Event()
    name_oneself("victim")

    def wait():
        order.readline()
        stop.set()

    def work():
        name_oneself("worker")
        write(path, stop, calls)
    other = threading.Thread(target=work if in_thread else wait, daemon=True)
    other.start()
    if in_thread:
        wait()
        other.join()
    else:
        write(path, stop, calls)
    return calls


class Child:
    """A process that does @action, which takes a stream for orders, and whose result comes back."""

    def __init__(self, action):
        self.orders, self.results = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(self.orders[0])
            os.close(self.results[1])
            return
        os.close(self.orders[1])
        os.close(self.results[0])
        try:
            found = action(os.fdopen(self.orders[0]))
            with os.fdopen(self.results[1], "w") as results:
                json.dump(found, results)
        finally:
            os._exit(0)

    def end(self):
        os.close(self.orders[1])
        with os.fdopen(self.results[0]) as results:
            text = results.read()
        os.waitpid(self.pid, 0)
        return json.loads(text)


def write_back(directory):
    fd = os.open(directory, os.O_RDONLY)
    LIBC.syncfs(fd)
    os.close(fd)


def wait_for(condition, what):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.05)
    sys.exit(f"FAILED: {what}")


def has_sampled(out):
    """More than the header: those who come now are younger than the sampler's knowledge of the switch."""
    if not os.path.exists(out):
        return False
    with open(out, "rb") as file:
        return file.read().count(b"\n") >= 3


def run_first():
    """Before anybody but interrupts: an emulated processor is slow enough for ticks to be missed."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))


def make_stall(blkbox, disk, directory, in_thread):
    """The report, and the victim's own calls."""
    out, small, big = "stall.csv", os.path.join(directory, "small"), os.path.join(directory, "big")
    if os.path.exists(out):
        os.remove(out)
    with open(small, "wb") as file:
        file.write(bytes(4096))
        os.fsync(file.fileno())
    sampler = subprocess.Popen([blkbox, "stall", "--names", "victim,bully", "--disk", disk, "--columns", "all",
                                "--enable-delayacct", "--alert", "200ms", "--out", out, "--force"],
                               stderr=subprocess.PIPE, preexec_fn=run_first)
    wait_for(lambda: has_sampled(out), "no samples")
    victim = Child(lambda order: be_victim(small, in_thread, order))
    time.sleep(1)
    bully = Child(lambda order: be_bully(big))
    wait_for(lambda: os.path.exists(big) and os.path.getsize(big) == BULLY_MIB << 20, "the bully is too slow")
    write_back(directory)
    bully.end()
    time.sleep(0.7)
    calls = victim.end()
    time.sleep(0.3)
    sampler.send_signal(signal.SIGINT)
    alerts = sampler.communicate(timeout=60)[1].decode()
    os.remove(big)
    os.sync()
    report = subprocess.run([blkbox, "stall", "report", "--json", out], stdout=subprocess.PIPE, check=True)
    subprocess.run([blkbox, "stall", "report", out], check=True)
    with open(out, newline="") as file:
        return json.loads(report.stdout), list(csv.DictReader(file)), calls, alerts


def slept_ms(calls, since, until):
    return 1000 * sum(call[2] for call in calls if call[1] > since and call[0] < until)


def off_ms(victim, rows, calls):
    """How far the report is from what the victim measured. Its first row tells of all that passed since the tick before
    that, and it cannot know when: of that tick, all calls or some of them."""
    until, since = victim["end_ns"] / 1e9 + 0.001, victim["start_ns"] / 1e9
    told = [float(row["mono"]) for row in rows if row["proc"] == "victim" and int(row["d_blkio_ms"] or 0)]
    first = min((at for at in told if since <= at <= until), default=since)
    before = max((float(row["mono"]) for row in rows if row["proc"] == "SYS" and float(row["mono"]) < first - 0.001),
                 default=since)
    least, most = slept_ms(calls, since, until), slept_ms(calls, min(before, since), until)
    nearest = min(max(victim["blocked_ms"], least), most)
    return nearest, victim["blocked_ms"] - nearest


def check(report, rows, calls, alerts, in_thread):
    """The faults."""
    found = [(stall, victim) for stall in report["stalls"] for victim in stall["victims"] if victim["name"] == "victim"]
    if not found:
        return ["the report does not know the victim"]
    stall, victim = max(found, key=lambda pair: pair[1]["blocked_ms"])
    measured, off = off_ms(victim, rows, calls)
    # All that are not watched come as one: on a machine with more to do, they may write more.
    writer = next((writer["name"] for writer in stall["writers"] if writer["pid"]), "nobody")
    thread = "worker" if in_thread else "victim"
    print(f"{thread}: blocked {victim['blocked_ms']:.0f} ms by the report, {measured:.1f} ms by its own measure; "
          f"{len(calls)} calls, the longest {1000 * max(call[1] - call[0] for call in calls):.0f} ms; "
          f"most was written by {writer}; "
          f"{', '.join(stall['mechanisms']) or 'nothing moved'}", flush=True)
    expected = {
        f"it is {off:.1f} ms off": abs(off) <= BOUND_MS,
        "that was no stall": measured >= 200,
        f"the thread is {victim['thread']}": victim["thread"] == thread,
        "the bully is another one": writer == "bully",
        "the mechanism is another one": "writeback burst" in stall["mechanisms"],
        f"no alert: {alerts}": "victim (" in alerts and "has been blocked for" in alerts,
    }
    return [fault for fault, holds in expected.items() if not holds]


def main():
    blkbox, disk, directory = sys.argv[1:]
    bad = 0
    before = open(SWITCH).read() if os.path.exists(SWITCH) else None
    for in_thread in False, True:
        for fault in check(*make_stall(blkbox, disk, directory, in_thread), in_thread):
            print("FAILED:", fault)
            bad += 1
    if before is not None and open(SWITCH).read() != before:
        print("FAILED: delay accounting is not as it was")
        bad += 1
    return bool(bad)


sys.exit(main())
