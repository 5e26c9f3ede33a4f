#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stall-sums.py FILE NAME [FROM TO]: of a process in the samples of `blkbox stall`: ms blocked, kB written by call, kB to the
device, ticks in D, and the name of its worst thread when it was blocked longest.
FROM and TO: only rows behind the one and up to the other, by the monotonic clock."""
import csv
import sys

with open(sys.argv[1], newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["proc"] == sys.argv[2]]
if len(sys.argv) > 3:
    rows = [row for row in rows if float(sys.argv[3]) < float(row["mono"]) <= float(sys.argv[4])]


def total(key):
    return sum(int(row[key] or 0) for row in rows)


worst = max(rows, key=lambda row: int(row["d_blkio_ms"] or 0), default={})
print(total("d_blkio_ms"), total("d_wchar_kB"), total("d_wbytes_kB"), sum(row["state"] == "D" for row in rows),
      worst.get("worst_thread") or "-")
