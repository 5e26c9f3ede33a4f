#!/usr/bin/env python3
"""Measures blkbox beside blkparse and btt on recordings that are made long by repeating a short one.

bench.py BLKBOX TOOLS [--events N] [--runs N] [--stall-reference SCRIPT] [--json] [PART...]

Runs of ours and theirs take turns; what is told is the median of the wall time. Absolute figures are the machine's
of this moment: compare ratios. Of what is read, all is in the page cache before.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import recording

HERE = os.path.dirname(os.path.abspath(__file__))
SHORT = os.path.join(HERE, "../data/linux-6.1/nullb-randrw/nullb0")
rows = []


def run(command, directory):
    """Wall time in seconds, peak memory in bytes (of a shell: of the largest in it)."""
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, shell=isinstance(command, str))
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench: {command}: exit status {process.returncode}: {err.decode(errors='replace')}")
    return time.monotonic() - start, usage.ru_maxrss * 1024


def medians(commands, directory):
    """Of commands by name, in turns: {name: (seconds, peak bytes)}."""
    found = {name: [] for name in commands}
    for _ in range(arguments.runs):
        for name, command in commands.items():
            found[name].append(run(command, directory))
    return {name: (statistics.median(t for t, _ in runs), max(m for _, m in runs)) for name, runs in found.items()}


def row(work, ours, theirs, unit, mark, ratio=None, reached=None, note=""):
    rows.append({"work": work, "ours": ours, "theirs": theirs, "unit": unit, "ratio": ratio, "mark": mark,
                 "reached": reached, "note": note})


def multiply(copies, spread, out):
    done = subprocess.run([multiplier, SHORT, str(copies), str(spread), out], check=True, stdout=subprocess.PIPE)
    return int(done.stdout)


def speed(events, seconds):
    return round(events / seconds / 1e6, 2)


def part_report(directory, events):
    found = medians({"theirs": "blkparse -i set -O -d stream >/dev/null && btt -i stream -o btt >/dev/null",
                     "files": [blkbox, "report", "set"], "log": [blkbox, "report", "log.blkbox"]}, directory)
    seconds, peak = found["files"]
    ratio = found["theirs"][0] / seconds
    row("report of a set, beside blkparse -O -d and btt", speed(events, seconds), speed(events, found["theirs"][0]),
        "M events/s", "25 x, 8 M/s", ratio, ratio >= 25 and speed(events, seconds) >= 8)
    row("report: peak memory", round(peak / 2**20, 1), None, "MiB", "under 64", None, peak < 64 << 20)
    ratio = found["files"][0] / found["log"][0]
    row("report of a compressed log, beside the set", speed(events, found["log"][0]), speed(events, seconds),
        "M events/s", "1 x (both ours)", ratio, ratio >= 1)


def part_dump(directory, events):
    found = medians({"theirs": ["blkparse", "-i", "set"], "ours": [blkbox, "dump", "set"]}, directory)
    seconds, peak = found["ours"]
    ratio = found["theirs"][0] / seconds
    row("dump to text, beside blkparse", speed(events, seconds), speed(events, found["theirs"][0]), "M events/s",
        "12 x, 3 M/s", ratio, ratio >= 12 and speed(events, seconds) >= 3)


def part_merge(directory, events):
    found = medians({"theirs": "blkparse -i set -O -d stream >/dev/null",
                     "ours": [blkbox, "export", "set", "--merged", "-o", "merged", "--force"]}, directory)
    ratio = found["theirs"][0] / found["ours"][0]
    row("merge to one stream, beside blkparse -O -d", speed(events, found["ours"][0]),
        speed(events, found["theirs"][0]), "M events/s", "10 x", ratio, ratio >= 10)


def part_verify(directory, events):
    size = os.path.getsize(os.path.join(directory, "raw.blkbox"))
    found = medians({"raw": [blkbox, "verify", "raw.blkbox"], "packed": [blkbox, "verify", "log.blkbox"]}, directory)
    for name in found:
        rate = size / found[name][0] / 1e9
        row(f"verify a log ({'not compressed' if name == 'raw' else 'compressed'}), bytes of records", round(rate, 2),
            None, "GB/s", "1", None, rate >= 1)


def part_size(directory, events):
    files = sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory)
                if name.startswith("set.blktrace."))
    log = os.path.getsize(os.path.join(directory, "log.blkbox"))
    row("size of a log, beside blktrace's files", round(log / events, 2), round(files / events, 2), "bytes/event",
        "1/5; 6 bytes", log / files, log * 5 <= files)


def part_growth(directory, events):
    """Time must grow as the number of events does, and not with the number of CPUs."""
    for share, spread in (20, 1), (2, 1), (1, 1), (2, 8), (2, 64):
        copies = max(1, events // share // 1803 // spread)
        n = multiply(copies, spread, os.path.join(directory, "grown"))
        found = medians({"report": [blkbox, "report", "grown"], "dump": [blkbox, "dump", "-q", "grown"]}, directory)
        row(f"{n / 1e6:.1f} M events, {2 * spread} CPUs: report", speed(n, found["report"][0]), None, "M events/s",
            "even", note=f"dump {speed(n, found['dump'][0])}; {found['report'][1] / 2**20:.0f} MiB")
        for name in os.listdir(directory):
            if name.startswith("grown."):
                os.unlink(os.path.join(directory, name))


def part_stall(directory, _):
    """The sampler beside another one with the same columns, if there is one."""
    found = os.path.join(directory, "stall.json")
    command = [sys.executable, os.path.join(HERE, "stall"), "--json", found, blkbox]
    reference = arguments.stall_reference
    subprocess.run(command + (["--reference", reference] if reference else []), stdout=sys.stderr)
    with open(found) as file:
        told = json.load(file)
    cost = {(one["who"], one["hz"]): 1000 * one["sample"] for one in told["seconds"]}
    theirs = cost.get(("theirs", 10))
    for hz, mark in (10, 0.1), (100, 0.2):
        ours = cost["ours", hz]
        ratio = ours / theirs if theirs else None
        row(f"a sample of 270 processes at {hz} Hz, beside the reference's at 10 Hz", round(ours, 3),
            theirs and round(theirs, 3), "CPU ms", f"at most {mark}", ratio, ratio is not None and ratio <= mark,
            "" if theirs else "ours alone: --stall-reference SCRIPT compares")
    if theirs:
        row("the same numbers within one tick", told["same"], None, "", "yes", None, told["same"])


def part_wakeups(directory, _):
    """Those of all threads and processes of a recorder, with a device that does nothing."""
    rate = recording.wakeups(blkbox, directory, 2 * arguments.seconds)
    row("wake-ups of a recorder (ftrace) with an idle device", round(rate, 1), None, "1/s", "under 5", None, rate < 5)


def part_ftrace(directory, _):
    """Random reads of a loop device over memory: untraced, recorded, and beside a loop that reads and forgets."""
    iops, dropped = recording.speed(blkbox, floor, directory, arguments.seconds, arguments.runs)
    thousand = {name: round(value / 1000, 1) for name, value in iops.items()}
    ratio = iops["ours"] / iops["floor"]
    row("record by ftrace, beside a bare loop that reads", thousand["ours"], thousand["floor"], "k IOPS", "0.95 x",
        ratio, ratio >= 0.95, note=f"untraced {thousand['none']}; {dropped} dropped")
    dropped, reached = recording.dropped_at(blkbox, directory, arguments.seconds, 100000)
    row(f"record by ftrace at {reached / 1000:.0f} k IOPS (of 100 k asked for): dropped", dropped, None, "events", "0",
        None, dropped == 0)


def in_guest(kernel):
    """What vm-record.sh finds on that kernel."""
    vm = os.path.join(HERE, "../vm")
    environment = dict(os.environ, BLKBOX=blkbox, BLKBOX_BUILD=os.path.dirname(blkbox))
    done = subprocess.run([os.path.join(vm, "boot"), "--kernel", kernel, "--mem", "3072", "--timeout",
                           str(120 + 12 * arguments.runs * (arguments.seconds + 10)),
                           os.path.join(HERE, "vm-record.sh"), str(arguments.seconds), str(arguments.runs)],
                          env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        raise recording.Missing(f"Linux {kernel} cannot be had")
    if done.returncode:
        sys.exit(f"bench: the guest with Linux {kernel}: exit status {done.returncode}: {done.stdout}")
    return json.loads(done.stdout.splitlines()[-1])


def part_vm(directory, _):
    """Beside blktrace with the same kernel buffers, on an emulated machine."""
    for kernel in "6.1", "6.12", "7":
        found = in_guest(kernel)
        where = f"record by relay, Linux {found['kernel'].split('+')[0].split('-')[0]} in a guest"
        ours, plain, theirs = (found[name] for name in ("ours", "plain", "blktrace"))
        share = {name: 100 * found[name]["dropped"] / found[name]["of"] for name in ("ours", "plain", "blktrace")}
        row(f"{where}: dropped", round(share["ours"], 2), round(share["blktrace"], 2), "% of events",
            "never more", None, share["ours"] <= share["blktrace"] and share["plain"] <= share["blktrace"],
            note="" if not ours["dropped"] + plain["dropped"] else f"with --no-compress {share['plain']:.2f}")
        cost = {name: 1e6 * found[name]["cpu_s"] / found[name]["events"] for name in ("ours", "plain", "blktrace")}
        for name, mark, how in ("plain", 1, " --no-compress"), ("ours", 2, ""):
            ratio = cost[name] / cost["blktrace"]
            row(f"{where}{how}: CPU time", round(cost[name], 2), round(cost["blktrace"], 2), "s/M events",
                f"at most {mark} x", ratio, ratio <= mark)
        floor_iops = found["floor"]["iops"]
        row(f"{where}: I/Os", round(ours["iops"] / 1000, 1), round(theirs["iops"] / 1000, 1), "k IOPS",
            "1 x, 0.95 of the floor", ours["iops"] / theirs["iops"],
            ours["iops"] >= theirs["iops"] and ours["iops"] >= 0.95 * floor_iops,
            note=f"untraced {found['none']['iops'] / 1000:.1f}, floor {floor_iops / 1000:.1f}, "
                 f"--no-compress {plain['iops'] / 1000:.1f}")


PARTS = {name[5:]: part for name, part in globals().items() if name.startswith("part_")}


def print_table():
    lines = [("WORK", "OURS", "THEIRS", "UNIT", "RATIO", "MARK", "")]
    for r in rows:
        lines.append((r["work"], str(r["ours"]), "-" if r["theirs"] is None else str(r["theirs"]), r["unit"],
                      "-" if r["ratio"] is None else f"{r['ratio']:.2f}", r["mark"],
                      r["note"] or {None: "", True: "reached", False: "not reached"}[r["reached"]]))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip())


parser = argparse.ArgumentParser(prog="scripts/bench")
parser.add_argument("blkbox")
parser.add_argument("tools", help="directory of multiply and floor")
parser.add_argument("--events", type=int, default=20000000, help="about so many (default: 20000000)")
parser.add_argument("--runs", type=int, default=3, help="of which the median is told (default: 3)")
parser.add_argument("--seconds", type=int, default=5, help="of each run that records (default: 5)")
parser.add_argument("--stall-reference", metavar="SCRIPT", default=os.environ.get("STALL_REFERENCE"),
                    help="the script that part stall compares with (default: $STALL_REFERENCE)")
parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
# PART may stand behind options.
arguments = parser.parse_intermixed_args()
if unknown := set(arguments.parts) - set(PARTS):
    parser.error(f"there is no part {unknown.pop()}; there are {', '.join(PARTS)}")
if arguments.events < 1803 or arguments.runs < 1:
    parser.error("--events must be at least 1803, --runs at least 1")
blkbox = os.path.abspath(arguments.blkbox)
multiplier, floor = (os.path.abspath(os.path.join(arguments.tools, name)) for name in ("multiply", "floor"))
with tempfile.TemporaryDirectory(prefix="blkbox-bench-") as place:
    made = 0
    # What is recorded or sampled here needs none of them.
    readers = set(arguments.parts or PARTS) - {"stall", "wakeups", "ftrace", "vm"}
    for output in ("set", "log.blkbox", "raw:raw.blkbox") if readers else ():
        kind, _, name = output.rpartition(":")
        made = multiply(arguments.events // 1803, 1, (kind + ":" if kind else "") + os.path.join(place, name))
    for part in arguments.parts or PARTS:
        try:
            PARTS[part](place, made)
        except recording.Missing as why:
            row(part, "-", None, "", "", note=f"not here: {why}")
machine = {"cpus": os.cpu_count(), "kernel": platform.release(), "events": made, "runs": arguments.runs}
if arguments.json:
    print(json.dumps({"machine": machine, "rows": rows}, indent=1))
else:
    print((f"{made} events, " if made else "") + f"{machine['cpus']} CPUs, Linux {machine['kernel']}, medians of {machine['runs']} runs\n")
    print_table()
