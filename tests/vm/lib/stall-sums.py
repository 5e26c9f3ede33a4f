#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stall-sums.py FILE NAME: of a process in the samples of `blkbox stall`: ms blocked, kB written by call, kB to the
device, ticks in D, and the name of its worst thread when it was blocked longest."""
import csv
import sys

with open(sys.argv[1], newline="") as file:
    rows = [row for row in csv.DictReader(file) if row["proc"] == sys.argv[2]]


def total(key):
    return sum(int(row[key] or 0) for row in rows)


worst = max(rows, key=lambda row: int(row["d_blkio_ms"] or 0), default={})
print(total("d_blkio_ms"), total("d_wchar_kB"), total("d_wbytes_kB"), sum(row["state"] == "D" for row in rows),
      worst.get("worst_thread") or "-")
