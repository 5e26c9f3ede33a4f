#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stall-victim.py FILE STOP [thread]: small writes that must get to the disk, as a control process makes them, until
there is a file STOP.

Once it is ready, it is called "victim". With "thread", it is a worker thread, called "worker", that writes, while the first one sleeps.
In the end it prints how long it was blocked in the longest of these calls, in ms: the time that passed, but for the
time on a CPU and the time that it waited for one; and when that began and ended, by the monotonic clock. Calls are
far enough apart for the samples of one not to be those of the next.
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
    """On a CPU, by the clock that is exact at any moment, and waiting for one."""
    with open("/proc/thread-self/schedstat") as file:
        waited_ns = int(file.read().split()[1])
    return time.thread_time() + waited_ns / 1e9


def write(fd, result):
    longest = (0, 0, 0)
    while not os.path.exists(sys.argv[2]):
        before = runnable_seconds()
        began = time.monotonic()
        os.pwrite(fd, b"x" * 512, 0)
        os.fdatasync(fd)
        ended = time.monotonic()
        longest = max(longest, (ended - began - (runnable_seconds() - before), began, ended))
        time.sleep(0.4)
    result[:] = longest


def worker(fd, result):
    name_oneself("worker")
    write(fd, result)


file = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.pwrite(file, b"y" * 4096, 0)
os.fsync(file)
# Or it would wait for pages of its own program, too, and not know.
ctypes.CDLL(None).mlockall(MCL_CURRENT | MCL_FUTURE)
# What it waited for until now is not the victim's.
time.sleep(1)
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
print(round(1000 * found[0]), *found[1:])
# So that its last row is not missed.
time.sleep(0.5)
