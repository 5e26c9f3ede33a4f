# SPDX-License-Identifier: MIT
"""What recording through ftrace costs, on a loop device of this machine over a file in memory."""
import contextlib
import fcntl
import glob
import json
import os
import signal
import statistics
import subprocess
import time

TRACEFS = "/sys/kernel/tracing"
LOCK = "/run/lock/blkbox-live-tests"
IMAGE_BYTES = 256 << 20


class Missing(Exception):
    """This machine cannot do that; why."""


def read(path):
    with open(path) as file:
        return file.read().strip()


def write(path, text):
    with open(path, "w") as file:
        file.write(str(text))


def need_tracing():
    if os.geteuid() != 0:
        raise Missing("only root may trace")
    if not os.path.exists(f"{TRACEFS}/current_tracer"):
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACEFS], stderr=subprocess.DEVNULL)
    if not os.path.exists(f"{TRACEFS}/current_tracer") or "blk" not in read(f"{TRACEFS}/available_tracers").split():
        raise Missing("there is no blk tracer here")
    if read(f"{TRACEFS}/current_tracer") != "nop" or os.path.exists("/run/blkbox/tracing"):
        raise Missing("somebody uses ftrace")


@contextlib.contextmanager
def device_to_trace():
    """A loop device over memory, while nobody else traces."""
    with open(LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        need_tracing()
        path = f"/dev/shm/blkbox-bench-{os.getpid()}"
        try:
            with open(path, "wb") as image:
                for _ in range(IMAGE_BYTES >> 20):
                    image.write(b"\1" * (1 << 20))
            made = subprocess.run(["losetup", "-f", "--show", path], stdout=subprocess.PIPE, text=True)
            if made.returncode:
                raise Missing("there is no loop device here")
            device = made.stdout.strip()
            try:
                yield device
            finally:
                subprocess.run(["losetup", "-d", device], check=True)
        finally:
            os.unlink(path)


@contextlib.contextmanager
def recorder(blkbox, device, log):
    """While it records: its process, and what it does behind."""
    process = subprocess.Popen([blkbox, "record", "--source", "ftrace", "--force", "-q", "-o", log, device],
                               stderr=subprocess.PIPE, text=True)
    try:
        while not os.path.exists("/run/blkbox/tracing") or read(f"{TRACEFS}/current_tracer") != "blk":
            if process.poll() is not None:
                raise SystemExit(f"bench: blkbox record: {process.stderr.read()}")
            time.sleep(0.05)
        time.sleep(0.3)
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


@contextlib.contextmanager
def bare_loop(floor, device, buffer_kb):
    """The kernel traces the device, and a loop throws away what it tells."""
    name = os.path.basename(device)
    settings = {f"{TRACEFS}/current_tracer": "blk", f"{TRACEFS}/options/overwrite": 0,
                f"/sys/block/{name}/trace/enable": 1}
    sizes = glob.glob(f"{TRACEFS}/per_cpu/cpu*/buffer_size_kb")
    before = {path: read(path) for path in list(settings) + sizes}
    process = None
    try:
        for path in sizes:
            write(path, buffer_kb)
        for path, value in settings.items():
            write(path, value)
        process = subprocess.Popen([floor] + glob.glob(f"{TRACEFS}/per_cpu/cpu*/trace_pipe_raw"),
                                   stdout=subprocess.PIPE)
        process.stdout.readline()
        yield
    finally:
        write(f"/sys/block/{name}/trace/enable", 0)
        if process:
            process.terminate()
            process.wait()
        write(f"{TRACEFS}/trace", "")
        for path, value in before.items():
            # "7 (expanded: 1408)": nobody had used it.
            write(path, value.split("expanded: ")[-1].rstrip(")") if path in sizes else value)


def fio(device, seconds, rate=None):
    """I/Os per second."""
    command = ["fio", "--name=bench", f"--filename={device}", "--rw=randread", "--bs=4k", "--direct=1",
               "--ioengine=libaio", "--iodepth=32", "--time_based", f"--runtime={seconds}",
               "--output-format=json"] + ([f"--rate_iops={rate}"] if rate else [])
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["jobs"][0]["read"]["iops"]


def processes_of(pid):
    """It and its children."""
    children = glob.glob(f"/proc/{pid}/task/*/children")
    return [pid] + [int(child) for path in children for child in read(path).split()]


def switches_of(pid):
    """How often its threads, and its children's, have gone to sleep so far."""
    lines = [line for process in processes_of(pid) for path in glob.glob(f"/proc/{process}/task/*/status")
             for line in read(path).splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def wakeups(blkbox, directory, seconds):
    """Per second, of a recorder whose device does nothing."""
    with device_to_trace() as device, recorder(blkbox, device, os.path.join(directory, "idle")) as process:
        time.sleep(1)
        before = switches_of(process.pid)
        time.sleep(seconds)
        return (switches_of(process.pid) - before) / seconds


def speed(blkbox, floor, directory, seconds, runs):
    """Medians of I/Os per second: {"none", "floor", "ours"}, and what ours dropped in all."""
    log = os.path.join(directory, "traced")
    found = {"none": [], "floor": [], "ours": []}
    dropped = 0
    with device_to_trace() as device:
        fio(device, 1)
        for _ in range(runs):
            found["none"].append(fio(device, seconds))
            with recorder(blkbox, device, log):
                buffer_kb = read(f"{TRACEFS}/per_cpu/cpu0/buffer_size_kb")
                found["ours"].append(fio(device, seconds))
            dropped += info(blkbox, log)["dropped"]
            with bare_loop(floor, device, buffer_kb):
                found["floor"].append(fio(device, seconds))
    return {name: statistics.median(values) for name, values in found.items()}, dropped


def dropped_at(blkbox, directory, seconds, rate):
    """What is dropped at so many I/Os a second, and how many there were."""
    log = os.path.join(directory, "rated")
    with device_to_trace() as device:
        with recorder(blkbox, device, log):
            reached = fio(device, seconds, rate)
        return info(blkbox, log)["dropped"], reached


def info(blkbox, log):
    return json.loads(subprocess.run([blkbox, "info", "--json", log], stdout=subprocess.PIPE).stdout)
