#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stall.py BLKBOX DIR: the sampler on the running kernel, in the directory DIR on a disk."""
import csv
import mmap
import os
import signal
import subprocess
import sys
import threading
import time

blkbox, work = sys.argv[1:3]
os.chdir(work)
SWITCH = "/proc/sys/kernel/task_delayacct"
bad = 0


def expect(condition, *words):
    global bad
    if not condition:
        bad += 1
        print("FAILED:", *words)


def switch(value=None):
    if value is not None:
        with open(SWITCH, "w") as file:
            file.write(value)
    with open(SWITCH) as file:
        return file.read().strip()


class Sampler:
    """In the background; its rows when it has ended."""

    def __init__(self, *options, out="out.csv", prefix=()):
        self.out = out
        self.process = subprocess.Popen([*prefix, blkbox, "stall", "--out", out, "--force", *options],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(100):
            if os.path.exists(out) and os.path.getsize(out):
                break
            time.sleep(0.05)
        time.sleep(0.3)

    def end(self, number=signal.SIGINT, status=0):
        self.process.send_signal(number)
        self.stderr = self.process.communicate(timeout=30)[1].decode()
        expect(self.process.returncode == status, self.process.args, self.process.returncode, self.stderr)
        return rows_of(self.out)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expect(all(None not in row and None not in row.values() for row in rows), path, "has rows of another length")
    return rows


def of(rows, name):
    return [row for row in rows if row["proc"] == name]


def total(rows, key):
    known = [int(row[key]) for row in rows if row[key]]
    return sum(known) if known else None


def notes(rows, text):
    return [row["proc"] for row in rows if row["proc"].startswith("NOTE: ") and text in row["proc"]]


def child(name, action):
    """A process of this name; @action: in it."""
    pid = os.fork()
    if not pid:
        with open("/proc/self/comm", "wb") as comm:
            comm.write(name if isinstance(name, bytes) else name.encode())
        try:
            action()
        finally:
            os._exit(0)
    return pid


def finish(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def read_directly(seconds=1e9):
    fd = os.open("data", os.O_RDONLY | os.O_DIRECT)
    buffer = mmap.mmap(-1, 1 << 20)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        os.preadv(fd, [buffer], 0)


def delay_accounting():
    switch("0")
    old = child("oldreader", read_directly)
    time.sleep(0.2)
    sampler = Sampler("--names", "oldreader,newreader")
    new = child("newreader", read_directly)
    time.sleep(1)
    rows = sampler.end()
    expect(len(notes(rows, "delay accounting is off")) == 1 and notes(rows, "--enable-delayacct"), "no note, or more")
    expect(total(rows, "d_blkio_ms") is None, "blocked, though nobody counts")
    finish(new)
    sampler = Sampler("--names", "oldreader,newreader", "--enable-delayacct")
    expect(switch() == "1", "not turned on")
    new = child("newreader", read_directly)
    time.sleep(2)
    rows = sampler.end()
    expect(switch() == "0", "not turned off again")
    expect(total(of(rows, "oldreader"), "d_blkio_ms") is None, "older than the switch, but measured")
    expect((total(of(rows, "newreader"), "d_blkio_ms") or 0) >= 200, "not measured", of(rows, "newreader"))
    finish(new)
    finish(old)
    for number in signal.SIGTERM, signal.SIGKILL:
        sampler = Sampler("--enable-delayacct")
        expect(switch() == "1", "not turned on")
        sampler.end(number, -number if number == signal.SIGKILL else 0)
        for _ in range(50):
            if switch() == "0":
                break
            time.sleep(0.05)
        expect(switch() == "0", "not turned off after", number)
    # Two at once: whichever ends first, the other one goes on measuring; one may be killed.
    for number in signal.SIGINT, signal.SIGKILL:
        first = Sampler("--enable-delayacct")
        second = Sampler("--enable-delayacct", out="second.csv")
        first.end(number, -number if number == signal.SIGKILL else 0)
        time.sleep(1)
        expect(switch() == "1", "turned off while another one needs it, after", number)
        second.end()
        expect(switch() == "0", "not turned off by the last one, after", number)
    # Somebody else's: it stays.
    switch("1")
    Sampler("--enable-delayacct").end()
    expect(switch() == "1", "turned off what somebody else had turned on")
    switch("0")


def a_worker_thread():
    def work_in_thread():
        def run():
            with open("/proc/thread-self/comm", "w") as comm:
                comm.write("hidden")
            read_directly(1.5)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    sampler = Sampler("--names", "hasworker", "--columns", "all", "--enable-delayacct")
    pid = child("hasworker", lambda: (time.sleep(0.5), work_in_thread()))
    os.waitpid(pid, 0)
    rows = of(sampler.end(), "hasworker")
    expect((total(rows, "d_blkio_ms") or 0) >= 150, "a blocked worker is not seen", rows[:3])
    expect("hidden" in {row["worst_thread"] for row in rows}, "the worst thread", rows[:3])
    expect("D" in {row["state"] for row in rows}, "a worker in D is not seen")


def denied():
    os.chmod(".", 0o777)
    sampler = Sampler("--duration", "1", out="/tmp/blkbox-stall-nobody.csv",
                      prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    sampler.process.wait()
    rows = rows_of(sampler.out)
    os.remove(sampler.out)
    expect(len(notes(rows, "may not be read")) == 1, "no note of those that may not be read", notes(rows, ""))
    expect(not [row for row in rows if row["pid"] == "1" and row["d_wchar_kB"] == "0"], "0 for what may not be read")


def hidden():
    """In a mount namespace of its own."""
    script = """mount -o remount,hidepid=2 /proc && for as in 65534 0; do
        setpriv --reuid=$as --regid=$as --clear-groups "$0" stall --duration 0.5; done"""
    done = subprocess.run(["unshare", "-m", "--mount-proc", "--propagation", "private", "-f", "-p", "sh", "-c", script,
                           blkbox], stdout=subprocess.PIPE, timeout=30)
    told = [part.count(b"hidepid=invisible") for part in done.stdout.split(b"wall,mono")[1:]]
    expect(told == [1, 0], "hidden processes: notes for nobody and for root", told)


def a_child_and_its_parent():
    sampler = Sampler("--names", "theparent,thechild")

    def parent():
        time.sleep(0.5)

        def write():
            time.sleep(0.3)
            fd = os.open("child", os.O_CREAT | os.O_WRONLY)
            for _ in range(64):
                os.write(fd, bytes(1 << 20))
            time.sleep(0.3)
        os.waitpid(child("thechild", write), 0)
        time.sleep(0.5)
    os.waitpid(child("theparent", parent), 0)
    rows = sampler.end()
    kb = total(of(rows, "thechild"), "d_wchar_kB") or 0
    expect(kb == 65536, "the child wrote 65536 kB, not", kb)
    expect((total(of(rows, "theparent"), "d_wchar_kB") or 0) < 1000, "counted twice", of(rows, "theparent"))
    expect(notes(rows, "took over the counters of its child"), "no note", notes(rows, ""))


def names():
    def write():
        fd = os.open("named", os.O_CREAT | os.O_WRONLY)
        while True:
            os.pwrite(fd, bytes(100 << 10), 0)
            time.sleep(0.05)
    wanted = {b"a b": "a b", b"a) R 1 (": "a) R 1 (", b")": ")", b"a\nb": "a\\x0ab", b"a,\"b": "a,\"b",
              b"f\xc3\xbcnfzehn12345\xc3": "f\u00fcnfzehn12345\\xc3"}
    children = {child(name, write): shown for name, shown in wanted.items()}
    time.sleep(0.2)
    sampler = Sampler()
    time.sleep(0.5)
    rows = sampler.end()
    for pid, shown in children.items():
        finish(pid)
        found = {row["proc"] for row in rows if row["pid"] == str(pid)}
        expect(found == {shown}, "the name", shown, "is", found)


def a_pid_that_is_used_again():
    script = '''
        echo firstuser >/proc/self/comm
        "$0" stall --names user --out reused.csv --force & sampler=$!
        sleep 0.5
        python3 -c 'import os, time
open("/proc/self/comm", "w").write("user")
time.sleep(0.3)
fd = os.open("reused", os.O_CREAT | os.O_WRONLY)
for i in range(50): os.write(fd, bytes(1 << 20))
time.sleep(0.3)' & pid=$!
        wait $pid
        echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
        python3 -c 'import os, time
open("/proc/self/comm", "w").write("user")
time.sleep(1)' & again=$!
        wait $again
        kill -INT $sampler; wait $sampler
        echo $pid $again
    '''
    done = subprocess.run(["unshare", "-pf", "--mount-proc", "bash", "-c", script, blkbox], stdout=subprocess.PIPE)
    pids = done.stdout.split()
    expect(len(pids) == 2 and pids[0] == pids[1], "the PID was not used again", pids)
    rows = of(rows_of("reused.csv"), "user")
    expect(total(rows, "d_wchar_kB") == 51200, "written", total(rows, "d_wchar_kB"))


def signals_and_files():
    sampler = Sampler("--hz", "500", "--columns", "all", "--max-size", "64k", "--keep", "2", out="rotated.csv")
    time.sleep(4)
    sampler.process.send_signal(signal.SIGUSR1)
    sampler.end()
    expect("samples in" in sampler.stderr and sampler.stderr.count("\n") == 1, "status:", sampler.stderr)
    files = sorted(name for name in os.listdir() if name.startswith("rotated"))
    expect(files == ["rotated.csv", "rotated.csv.1", "rotated.csv.2"], files)
    rows = [row for name in reversed(files) for row in rows_of(name) if row["proc"] == "SYS"]
    expect(all(os.path.getsize(name) <= 64 << 10 for name in files), "too large")
    gaps = [float(b["mono"]) - float(a["mono"]) for a, b in zip(rows, rows[1:])]
    missed = sum(int(row["missed_ticks"]) for row in rows)
    expect(gaps and (max(gaps) < 0.05 or missed), "rows are missing between files", max(gaps))
    sampler = Sampler(out="hup.csv")
    os.rename("hup.csv", "hup.old")
    sampler.process.send_signal(signal.SIGHUP)
    time.sleep(0.6)
    rows = sampler.end()
    expect(of(rows, "SYS") and of(rows_of("hup.old"), "SYS"), "not opened anew")


def for_long():
    """Files put aside, reopened, processes that come and go: nothing grows, and each tick is there or is told missed."""
    for name in os.listdir():
        if name.startswith("soak"):
            os.remove(name)
    sampler = Sampler("--hz", "200", "--columns", "all", "--max-size", "256k", "--keep", "100", out="soak.csv")
    found = []
    for i in range(60):
        subprocess.run(["sh", "-c", "sleep 0.1 & sleep 0.1"], check=True)
        if i % 10 == 9:
            os.rename("soak.csv", f"soak-{i}")
            sampler.process.send_signal(signal.SIGHUP)
        if i >= 10:
            with open(f"/proc/{sampler.process.pid}/statm") as file:
                resident = int(file.read().split()[1])
            processes = sum(name.isdigit() for name in os.listdir("/proc"))
            found.append((resident, len(os.listdir(f"/proc/{sampler.process.pid}/fd")) / processes))
    time.sleep(0.3)
    sampler.end()
    for what in 0, 1:
        first, last = (sorted(row[what] for row in part)[5] for part in (found[:10], found[-10:]))
        expect(last <= 1.2 * first, ("memory", "descriptors a process")[what], first, last)
    rows = [row for name in os.listdir() if name.startswith("soak") for row in rows_of(name) if row["proc"] == "SYS"]
    rows.sort(key=lambda row: float(row["mono"]))
    missed = sum(int(row["missed_ticks"]) for row in rows[1:])
    ticks = round((float(rows[-1]["mono"]) - float(rows[0]["mono"])) * 200) + 1
    expect(abs(len(rows) + missed - ticks) <= 3, "samples", len(rows), "missed", missed, "ticks", ticks)


def killed():
    for i in range(15):
        sampler = Sampler("--hz", "1000", "--columns", "all", "--all", out="killed.csv")
        time.sleep(0.02 * i)
        sampler.end(signal.SIGKILL, -signal.SIGKILL)
        time.sleep(0.1)
        with open("killed.csv", "rb") as file:
            expect(file.read()[-1:] == b"\n", "half a row")
        rows_of("killed.csv")


def an_output_that_fills_up():
    os.mkdir("small")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", "small"], check=True)
    with open("small/fill", "wb") as file:
        file.write(bytes(56 << 10))
    sampler = Sampler("--hz", "200", "--columns", "all", out="small/out.csv")
    time.sleep(2)
    expect(sampler.process.poll() is None, "it has ended")
    os.remove("small/fill")
    subprocess.run(["mount", "-o", "remount,size=8m", "small"], check=True)
    time.sleep(1)
    rows = sampler.end()
    expect(len(notes(rows, "output could not be written")) == 1, "no note of the gap", notes(rows, ""))
    times = [float(row["mono"]) for row in of(rows, "SYS")]
    expect(max(b - a for a, b in zip(times, times[1:])) < 0.5, "rows were lost")
    subprocess.run(["umount", "small"], check=True)


def refused():
    """What cannot be done is told before anything is written."""
    cpus = os.cpu_count()
    for options, status, text in ((("--all", "--names", "x"), 2, "--all makes no sense"),
                                  (("--pid", str(os.getpid()), "--all"), 2, "--all makes no sense"),
                                  (("--cpu", "1023"), 1, "--cpu: cannot run on CPU 1023"),
                                  (("--disk", "nosuch"), 1, "--disk: there is no disk nosuch"),
                                  (("--disk", ".."), 1, "--disk: there is no disk .."),
                                  (("--cpu", str(cpus)), 1, "--cpu: cannot run on CPU")):
        done = subprocess.run([blkbox, "stall", "--duration", "200ms", "--out", "refused.csv", *options],
                              stderr=subprocess.PIPE, timeout=20)
        expect(done.returncode == status and text.encode() in done.stderr, options, done)
        expect(not os.path.exists("refused.csv"), options, "something was written")


def a_command():
    done = subprocess.run([blkbox, "stall", "--", "sh", "-c", "sleep 0.3; exit 7"], stdout=subprocess.PIPE)
    expect(done.returncode == 7 and done.stdout.count(b",SYS,") >= 2, done)
    done = subprocess.run(["sh", "-c", f"{blkbox} stall | head -n 3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=20)
    expect(done.stdout.count(b"\n") == 3, done)
    expect(done.stderr.count(b"\n") == 1 and b"nobody reads from standard output any more" in done.stderr, done)


with open("data", "wb") as data:
    data.write(os.urandom(1 << 20))
    os.fsync(data.fileno())
before = switch() if os.path.exists(SWITCH) else None
try:
    if before is not None:
        delay_accounting()
    for test in (a_worker_thread, denied, hidden, a_child_and_its_parent, names, a_pid_that_is_used_again,
                 signals_and_files, for_long, killed, an_output_that_fills_up, refused, a_command):
        print("==", test.__name__)
        test()
finally:
    if before is not None:
        switch(before)
sys.exit(bool(bad))
