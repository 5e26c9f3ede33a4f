#!/usr/bin/env python3
"""A reader of raw blktrace records of its own, to hold the recorder's figures against.

records.py counts BASE...   what is in the files BASE.blktrace.CPU (all of them together), as KEY=VALUE lines
records.py order FILE       the same of one stream; fails if the time of a record is before that of the one before it
records.py tap STATS        hands standard input on, and writes to STATS how long records took from the kernel to here
"""
import collections
import glob
import os
import re
import struct
import sys
import time

V1 = struct.Struct("<IIQQIIIIIHH")  # magic sequence time sector bytes action pid device cpu error pdu_len
V2 = struct.Struct("<IIQQIIQIIHH12x")  # magic sequence time sector bytes pid action device cpu error pdu_len
MAGIC_V1, MAGIC_V2 = 0x65617407, 0x65617408
WRITE, ISSUE, COMPLETE, NOTIFY, FUA = (1 << (16 + bit) for bit in (1, 6, 7, 10, 15))
Record = collections.namedtuple("Record", "sequence time sector bytes action pid device cpu size")


def parse(data, at):
    """The record at an offset, or None where it is cut off."""
    if len(data) - at < V1.size:
        return None
    magic = struct.unpack_from("<I", data, at)[0]
    if magic == MAGIC_V1:
        _, sequence, when, sector, size, action, pid, device, cpu, _, pdu = V1.unpack_from(data, at)
        head = V1.size
    elif magic == MAGIC_V2:
        if len(data) - at < V2.size:
            return None
        _, sequence, when, sector, size, pid, action, device, cpu, _, pdu = V2.unpack_from(data, at)
        head = V2.size
    else:
        sys.exit(f"no record at offset {at}: magic {magic:#x}")
    if len(data) - at < head + pdu:
        return None
    return Record(sequence, when, sector, size, action, pid, device, cpu, head + pdu)


def records(data):
    at = 0
    while at < len(data):
        record = parse(data, at)
        if record is None:
            sys.exit(f"the record at offset {at} of {len(data)} is cut off")
        yield record
        at += record.size


def is_note(record):
    return record.action & NOTIFY


def is_event(record, code, category):
    # On v2, 8 without the category COMPLETE is the zone-append event.
    return not is_note(record) and record.action & 0xFF == code and record.action & category


def counts(streams):
    found = collections.Counter(events=0, notes=0, completions=0, issues=0, queued=0, writes=0, fua_writes=0,
                                written_bytes=0, gaps=0, backwards=0, bytes=0)
    last = {}
    cpus, devices = set(), set()
    for name, data in streams:
        of_file = re.search(r"\.blktrace\.(\d+)$", name)
        for record in records(data):
            found["bytes"] += record.size
            if of_file and record.cpu != int(of_file[1]):
                sys.exit(f"{name} has a record of CPU {record.cpu}")
            if is_note(record):
                found["notes"] += 1
                continue
            found["events"] += 1
            cpus.add(record.cpu)
            devices.add(record.device)
            # The first event of a CPU is number 1.
            step = record.sequence - last.get((record.device, record.cpu), 0)
            last[record.device, record.cpu] = record.sequence
            if step < 1:
                found["backwards"] += 1
            else:
                found["gaps"] += step - 1
            found["queued"] += bool(is_event(record, 1, 1 << 20))
            found["issues"] += bool(is_event(record, 7, ISSUE))
            if is_event(record, 8, COMPLETE):
                found["completions"] += 1
                if record.action & WRITE:
                    found["writes"] += 1
                    found["written_bytes"] += record.bytes
                found["fua_writes"] += bool(record.action & WRITE and record.action & FUA)
    for key, value in found.items():
        print(f"{key}={value}")
    print(f"cpus={','.join(map(str, sorted(cpus)))}")
    print(f"devices={','.join(f'{d >> 20}:{d & 0xFFFFF}' for d in sorted(devices))}")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def command_counts(bases):
    paths = [path for base in bases for path in sorted(glob.glob(glob.escape(base) + ".blktrace.*"))]
    if not paths:
        sys.exit(f"no files {bases}.blktrace.*")
    counts([(path, read(path)) for path in paths])


def command_order(path):
    data = read(path)
    before = 0
    for number, record in enumerate(records(data)):
        if record.time < before:
            sys.exit(f"record {number}: time {record.time} after {before}")
        before = record.time
    counts([(path, data)])


def command_tap(path):
    data, lags = b"", []
    while chunk := os.read(0, 1 << 20):
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        data += chunk
        at = 0
        while record := parse(data, at):
            lags.append(now - record.time)
            at += record.size
        data = data[at:]
    lags.sort()
    with open(path, "w") as file:
        file.write(f"records={len(lags)}\ncut={len(data)}\n")
        if lags:
            file.write(f"median_ms={lags[len(lags) // 2] // 10**6}\nmax_ms={lags[-1] // 10**6}\n")


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "counts":
        command_counts(sys.argv[2:])
    elif len(sys.argv) == 3 and sys.argv[1] == "order":
        command_order(sys.argv[2])
    elif len(sys.argv) == 3 and sys.argv[1] == "tap":
        command_tap(sys.argv[2])
    else:
        sys.exit(__doc__)
