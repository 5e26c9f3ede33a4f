# SPDX-License-Identifier: MIT
"""Traces from literals: the records that a kernel would have written, for tests of whole commands."""
import struct

CODES = {"Q": 1, "M": 2, "G": 4, "R": 6, "D": 7, "C": 8, "I": 12, "X": 13, "A": 15}
CATEGORIES = {"Q": 0x10, "M": 0x10, "G": 0x10, "I": 0x10, "X": 0x10, "A": 0x10, "R": 0x20, "D": 0x40, "C": 0x80}
RWBS = {"R": 1, "W": 2, "F": 4, "S": 8, "M": 0x1000, "D": 0x2002}
SDA, SDB, DM = 8 << 20, 8 << 20 | 16, 253 << 20
START_NS = 5_000_000_000


class Trace:
    """A stream of protocol v1 or v2 records, little endian, numbered by device and CPU as the kernel does."""

    def __init__(self, protocol=1):
        self.protocol, self.events = protocol, []

    def name(self, pid, comm):
        self.events.append((0, dict(action=1 << 26, pid=pid, payload=comm.encode().ljust(16, b"\0"))))

    def add(self, us, act, rwbs, sector, size=4096, pid=100, device=SDA, cpu=0, error=0, above=None, missing=0):
        """@above: device and sector from which it was remapped (A). @missing: so many numbers in front of it."""
        categories = CATEGORIES[act]
        for letter in rwbs:
            categories |= RWBS[letter]
        payload = struct.pack(">IIQ", above[0], device, above[1]) if above else b""
        self.events.append((us, dict(action=categories << 16 | CODES[act], sector=sector, size=size, pid=pid,
                                     device=device, cpu=cpu, error=error, payload=payload, missing=missing)))

    def io(self, us, steps, rwbs, sector, error=0, missing=0, **rest):
        """@steps: "Q D+10 C+50": each so many microseconds after the one before."""
        for i, step in enumerate(steps.split()):
            act, _, later = step.partition("+")
            us += float(later or 0)
            self.add(us, act, rwbs, sector, error=error if act == "C" else 0, missing=missing if not i else 0, **rest)

    def record(self, us, number, action, sector=0, size=0, pid=0, device=SDA, cpu=0, error=0, payload=b""):
        head = struct.pack("<IIQQI", 0x65617406 + self.protocol, number, START_NS + round(us * 1000), sector, size)
        end = error & 0xffff, len(payload)
        if self.protocol == 1:
            return head + struct.pack("<IIIIHH", action, pid, device, cpu, *end) + payload
        return head + struct.pack("<IQIIHH12x", pid, action, device, cpu, *end) + payload

    def write(self, path):
        """In order of time."""
        numbers = {}
        with open(path, "wb") as file:
            for us, event in sorted(self.events, key=lambda event: event[0]):
                lane = event.get("device"), event.get("cpu")
                numbers[lane] = numbers.get(lane, 0) + 1 + event.pop("missing", 0)
                file.write(self.record(us, numbers[lane] if "device" in event else 0, **event))
        return path
