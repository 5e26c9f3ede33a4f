#!/usr/bin/env python3
"""Reads a recording's exports with Python's own json, csv and sqlite3 modules and holds them
against each other and against the records, which it decodes itself.

exports.py BASE PREFIX: PREFIX.jsonl, .csv, .sqlite, .perfetto, .report (report --json), .one.sqlite (of one process)
"""
import collections
import csv
import glob
import json
import sqlite3
import struct
import sys

base, prefix = sys.argv[1:3]
NOTIFY, CGROUP = 0x400, 0x100
ISSUE, REQUEUE, COMPLETE = 7, 6, 8
counts = collections.Counter()


def records():
    for name in glob.glob(base + ".blktrace.*"):
        data = open(name, "rb").read()
        at = 0
        while at < len(data):
            (magic, sequence, time, sector, size, action, pid, device, cpu, error, pdu_len) = (
                struct.unpack_from("<IIQQIIIIIHH", data, at)
            )
            assert magic == 0x65617407
            pdu = data[at + 48 : at + 48 + pdu_len]
            at += 48 + pdu_len
            cgroup = None
            if action & CGROUP:
                cgroup, pdu = struct.unpack("<Q", pdu[:8])[0], pdu[8:]
            note = bool(action >> 16 & NOTIFY)
            if not note:
                counts[action & 0xFF] += 1
            error = error - 65536 if error > 32767 else error
            yield {
                "time_ns": time,
                "sequence": None if note else sequence,
                "sector": None if note else sector,
                "bytes": None if note else size,
                "error": None if note else error,
                "pid": pid,
                "major": device >> 20,
                "minor": device & 0xFFFFF,
                "cpu": cpu,
                "cgroup_id": cgroup,
                "categories": action >> 16,
            }


def same(name, rows):
    """The rows, as sorted tuples, are the records."""
    key = sorted(expected[0])
    ours = sorted(tuple(str(row.get(k)) for k in key) for row in rows)
    theirs = sorted(tuple(str(row[k]) for k in key) for row in expected)
    assert ours == theirs, f"{name}: rows differ"


expected = list(records())

lines = [json.loads(line) for line in open(prefix + ".jsonl", encoding="utf-8")]
header = lines.pop(0)["header"]
assert header["events"] + header["notes"] == len(lines) == len(expected)
assert all(k in header["columns"] for line in lines for k in line)
same("jsonl", lines)
times = [line["time_ns"] for line in lines]
assert times == sorted(times)

rows = list(csv.DictReader(open(prefix + ".csv", newline="", encoding="utf-8"), strict=True))
assert b"\r\n" in open(prefix + ".csv", "rb").read(4096)
same("csv", [{k: v if v != "" else None for k, v in row.items()} for row in rows])
assert [r["process"] for r in rows] == [line.get("process", "") for line in lines]
shown = lambda text: "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
assert [r["text"] for r in rows] == [shown(line.get("text", "")) for line in lines]

db = sqlite3.connect(prefix + ".sqlite")
assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
assert db.execute("SELECT count(*) FROM events").fetchone()[0] == len(expected)
query = "SELECT sum(time_ns % 1000000), sum(bytes), sum(sector) FROM events WHERE rwbs IS NOT NULL"
assert db.execute(query).fetchone() == (
    sum(r["time_ns"] % 1000000 for r in expected if r["bytes"] is not None),
    sum(r["bytes"] or 0 for r in expected),
    sum(r["sector"] or 0 for r in expected),
)
ios = db.execute("SELECT count(*) FROM ios").fetchone()[0]
requests = db.execute("SELECT count(*) FROM requests").fetchone()[0]
assert db.execute("SELECT count(*) FROM ios WHERE latency_ns < device_ns").fetchone() == (0,)
for view in "process_totals", "per_second":
    assert db.execute(f"SELECT coalesce(sum(ios + errors), 0) FROM {view}").fetchone()[0] == ios
query = "SELECT count(*) FROM ios WHERE error != 0"
assert db.execute("SELECT count(*) FROM failed_ios").fetchone() == db.execute(query).fetchone()

# The slowest are a report's slowest.
report = json.load(open(prefix + ".report", encoding="utf-8"))
slowest = [(i["latency_ns"], i["operation"], i["bytes"], i["sector"]) for i in report["slowest"]]
rows = db.execute("SELECT i.latency_ns, i.operation, i.bytes, i.sector FROM ios i"
    " WHERE error = 0 AND latency_ns IS NOT NULL AND operation != 'passthrough'"
    " ORDER BY latency_ns DESC LIMIT 5").fetchall()
assert sorted(rows) == sorted(slowest[:5]) or [r[0] for r in rows] == [s[0] for s in slowest[:5]] and (
    len({r[0] for r in rows}) < len(rows)), (rows, slowest)
# The report's figures by operation, of whole I/Os.
for device in report["devices"]:
    for operation in device["operations"]:
        if operation["operation"] == "passthrough":
            continue
        found = db.execute("SELECT sum(error = 0), coalesce(sum(bytes) FILTER (WHERE error = 0), 0),"
            " max(latency_ns) FILTER (WHERE error = 0 AND queued_ns IS NOT NULL) FROM ios i"
            " JOIN devices d ON d.id = i.device WHERE d.name = ? AND operation = ?",
            (device["name"], operation["operation"])).fetchone()
        wanted = (operation["ios"], operation["bytes"], operation["latency"]["q2c"].get("max_ns"))
        assert found == wanted or found == (None, 0, None) and wanted[0] == 0, (device["name"], found, wanted)
view = db.execute("SELECT latency_ms FROM slowest_ios LIMIT 5").fetchall()
assert [round(v[0] * 1e6) for v in view] == [r[0] for r in rows]

# Of one process: the same I/Os with the same times as there are of it in the whole.
columns = "device, pid, operation, sector, bytes, queued_ns, issued_ns, completed_ns, latency_ns"
one = sqlite3.connect(prefix + ".one.sqlite")
mine = [r[0] for r in one.execute("SELECT DISTINCT p.name FROM ios i JOIN processes p ON p.id = i.process")]
if mine:
    assert len(mine) == 1, mine
    whole = db.execute(f"SELECT {columns.replace('pid', 'i.pid')} FROM ios i JOIN processes p ON"
        " p.id = i.process WHERE p.name = ? ORDER BY 8, 4, 6", mine).fetchall()
    assert one.execute(f"SELECT {columns} FROM ios ORDER BY 8, 4, 6").fetchall() == whole

trace = json.load(open(prefix + ".perfetto", encoding="utf-8"))
missed = trace["otherData"]
for k in missed.keys() - {"ios_without_slice"}:
    assert db.execute("SELECT value FROM meta WHERE key = ?", (k,)).fetchone() == (missed[k],), k
# Each issue is of a finished request, was given back, or is counted.
unmatched = missed["unmatched_issues"] + missed["in_flight_at_end"]
assert requests + unmatched + counts[REQUEUE] == counts[ISSUE], (requests, missed, counts)
without_request = db.execute("SELECT count(*) FROM ios WHERE requests = 0").fetchone()[0]
trace = trace["traceEvents"]
slices = [e for e in trace if e["ph"] == "X"]
without_slice = missed["ios_without_slice"]
assert len(slices) == requests + without_request - without_slice, (len(slices), requests, without_request, missed)
assert without_slice <= db.execute("SELECT count(*) FROM ios WHERE operation = 'flush'").fetchone()[0]
# The driver's depth is what was issued and neither completed nor given back.
if not db.execute("SELECT count(*) FROM requests WHERE requeues OR operation = 'passthrough'").fetchone()[0] and (
        counts[ISSUE] == requests == counts[COMPLETE]):
    depth, expected_depths = collections.Counter(), []
    for line in lines:
        if line["action"] in ("D", "C"):
            depth[line["device"]] += 1 if line["action"] == "D" else -1
            expected_depths.append(depth[line["device"]])
    depths = [e["args"]["depth"] for e in trace if e["ph"] == "C"]
    assert depths == expected_depths, "depths differ"
    print("depths", len(depths), file=sys.stderr)
lanes = {}
for e in slices:
    lanes.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
for lane in lanes.values():
    lane.sort()
    for a, b in zip(lane, lane[1:]):
        assert a[1] <= b[0] + 0.0005, "slices of one track overlap"
named = {(e["pid"], e["tid"]) for e in trace if e.get("name") == "thread_name"}
assert set(lanes) == named
print(len(expected), ios)
