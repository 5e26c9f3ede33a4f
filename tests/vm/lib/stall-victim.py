#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stall-victim.py FILE STOP [thread]: small writes that must get to the disk, as a control process makes them, until
there is a file STOP.

Once it is ready, it is called "victim". With "thread", it is a worker thread, called "worker", that writes, while the first one sleeps.
In the end it prints how long it was blocked in these calls, in all and at most, in ms: the time that passed, but for
the time on a CPU and the time that it waited for one.
"""
import ctypes
import os
import sys
import threading
import time

MCL_CURRENT, MCL_FUTURE = 1, 2


def name_oneself(name):
    with open("/proc/thread-self/comm", "w") as comm:
        comm.write(name)


def runnable_seconds():
    with open("/proc/thread-self/schedstat") as file:
        on_cpu, waited, _ = map(int, file.read().split())
    return (on_cpu + waited) / 1e9


def write(fd, result):
    blocked = longest = 0
    while not os.path.exists(sys.argv[2]):
        before, began = runnable_seconds(), time.monotonic()
        os.pwrite(fd, b"x" * 512, 0)
        os.fdatasync(fd)
        runnable = runnable_seconds() - before
        took = time.monotonic() - began
        took -= min(took, runnable)
        blocked += took
        longest = max(longest, took)
        time.sleep(0.05)
    result[:] = [blocked, longest]


def worker(fd, result):
    name_oneself("worker")
    write(fd, result)


file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.pwrite(file, b"y" * 4096, 0)
os.fsync(file)
# Or it would wait for pages of its own program, too, and not know.
ctypes.CDLL(None).mlockall(MCL_CURRENT | MCL_FUTURE)
name_oneself("victim")
# So that it is known before it is blocked.
time.sleep(1)
found = []
if len(sys.argv) > 3:
    thread = threading.Thread(target=worker, args=(file, found))
    thread.start()
    thread.join()
else:
    write(file, found)
print(round(1000 * found[0]), round(1000 * found[1]))
# So that its last row is not missed.
time.sleep(0.5)
