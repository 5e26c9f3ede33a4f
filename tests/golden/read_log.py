#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a log as blkbox-log(5) describes it and lists what is in it.

Knows nothing of the product's code: a check that the page and the program say the same.
Needs the zstd command for compressed logs. Exit status: 0 whole, 3 cut off, 1 anything else.
"""
import argparse
import struct
import subprocess
import sys

from xxh3 import xxh3_64

META, DEVICES, CHANNELS, DATA, DROPS, NAMES, CLOCK, END = range(1, 9)
NONE = 0xffffffff
LIMIT = 1048576


class Bad(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Bad(text)


def entries(payload, layout):
    size = struct.calcsize(layout)
    need(len(payload) % size == 0, "a table has an odd size")
    return list(struct.iter_unpack(layout, payload))


class Counter:
    """Counts the records of a channel, however they are cut."""

    def __init__(self):
        self.bytes = self.events = self.notes = 0
        self.rest = b""
        self.skip = 0

    def feed(self, data):
        self.bytes += len(data)
        if self.skip:
            n = min(self.skip, len(data))
            self.skip -= n
            data = data[n:]
        data = self.rest + data
        at = 0
        while True:
            if len(data) - at < 4:
                break
            step = self.record(data, at)
            if step is None:
                break
            at += step
        self.skip = max(0, at - len(data))
        self.rest = data[at:]

    def record(self, data, at):
        for order in "<", ">":
            magic, = struct.unpack_from(order + "I", data, at)
            if magic in (0x65617407, 0x65617408):
                break
        else:
            return 1
        head = 48 if magic == 0x65617407 else 64
        if len(data) - at < head:
            return None
        if head == 48:
            action, = struct.unpack_from(order + "I", data, at + 28)
            pdu_len, = struct.unpack_from(order + "H", data, at + 46)
        else:
            action, = struct.unpack_from(order + "Q", data, at + 32)
            pdu_len, = struct.unpack_from(order + "H", data, at + 50)
        if action & 1 << 8 and pdu_len < 8:
            return 1
        if action & 1 << 26:
            self.notes += 1
        else:
            self.events += 1
        return head + pdu_len


class Column:
    """What is left of one column."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, n):
        need(self.at + n <= len(self.data), "a column is too short")
        self.at += n
        return self.data[self.at - n:self.at]

    def byte(self):
        return self.bytes(1)[0]

    def number(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return number

    def signed(self):
        number = self.number()
        return number >> 1 if number % 2 == 0 else -(number >> 1) - 1


def unpack(packed):
    """The records of a block that is stored as columns."""
    sizes, at, columns = struct.unpack_from("<11I", packed), 44, []
    for size in sizes:
        columns.append(Column(packed[at:at + size]))
        at += size
    need(at == len(packed), "columns of another length than they say")
    control, shape, new_shape, origin, new_origin, time, sector_slot, new_sector, sequence, pad, plain = columns
    shapes, origins, sectors = [bytes(24)] * 256, [bytes(8)] * 256, [0] * 256
    now = place = end = last_new = count = 0
    padding, out = bytes(12), []
    while control.at < len(control.data):
        c = control.byte()
        if c == 255:
            out.append(plain.bytes(sequence.number()))
            continue
        slot = shape.byte()
        if c & 4:
            shapes[slot] = new_shape.bytes(24)
        action, magic, device, cpu, error, pdu_len = struct.unpack("<QIIIHH", shapes[slot])
        slot = origin.byte()
        if c & 8:
            origins[slot] = new_origin.bytes(8)
        pid, size = struct.unpack("<II", origins[slot])
        now = now + time.signed() & (1 << 64) - 1
        if c & 3 == 1:
            place = end
        elif c & 3 == 2:
            place = sectors[sector_slot.byte()]
        elif c & 3 == 3:
            slot = new_sector.byte()
            place = last_new = sectors[slot] = last_new + new_sector.signed() & (1 << 64) - 1
        end = place + size // 512 & (1 << 64) - 1
        count = count + 1 + (sequence.signed() if c & 16 else 0) & (1 << 32) - 1
        if c & 32:
            padding = pad.bytes(12)
        head = struct.pack("<IIQQI", magic, count, now, place, size)
        if magic & 0xff == 7:
            head += struct.pack("<IIIIHH", action, pid, device, cpu, error, pdu_len)
        else:
            head += struct.pack("<IQIIHH", pid, action, device, cpu, error, pdu_len) + padding
        out.append(head + plain.bytes(pdu_len))
    need(all(column.at == len(column.data) for column in columns), "a column is too long")
    return b"".join(out)


class Log:
    def __init__(self, data, check):
        self.data, self.check = data, check
        self.meta, self.devices, self.channels = {}, {}, {}
        self.counters, self.drops, self.names, self.clocks = {}, [], [], []
        self.blocks = 0
        self.end = None
        self.header()
        at = 64
        while at < len(data) and self.end is None:
            size = self.block(at)
            if size is None:
                return
            at += size
        need(self.end is None or at == len(data), "bytes behind END")

    def header(self):
        need(len(self.data) >= 64, "shorter than a header")
        need(self.data[:8] == bytes.fromhex("89424c4b424f580a"), "no log")
        version, size, features, self.mono, self.real, self.boot, _, check = struct.unpack_from(
            "<HHIQQ16sQQ", self.data, 8)
        need(version == 1 and size == 64 and features == 0, "a newer log")
        need(check == xxh3_64(self.data[:56]), "the header is damaged")

    def block(self, at):
        if len(self.data) - at < 48:
            return None
        raw = self.data[at:at + 48]
        sync, kind, flags, channel, raw_bytes, stored_bytes, head_check, payload_check, offset, _ = \
            struct.unpack("<IHHIIIIQQQ", raw)
        need(sync == 0xb10cb10c, f"no block at byte {at}")
        need(head_check == xxh3_64(raw[:20] + bytes(4) + raw[24:]) & 0xffffffff,
             f"the head at byte {at} is damaged")
        need(raw_bytes <= LIMIT and stored_bytes <= LIMIT, f"lengths of the block at byte {at}")
        if len(self.data) - at - 48 < stored_bytes:
            return None
        payload = self.data[at + 48:at + 48 + stored_bytes]
        if self.check:
            need(payload_check == xxh3_64(payload), f"the payload at byte {at} is damaged")
        if flags & 1:
            payload = subprocess.run(["zstd", "-dcq"], input=payload, stdout=subprocess.PIPE,
                                     check=True).stdout
        need(flags in (0, 1, 7), f"the flags of the block at byte {at}")
        if flags & 4:
            payload = unpack(payload)
        need(len(payload) == raw_bytes, f"the block at byte {at} has another length than it says")
        need(kind == DATA or channel == NONE and offset == 0, f"the head at byte {at}")
        self.take(kind, channel, offset, payload)
        self.blocks += kind != END
        return 48 + stored_bytes

    def take(self, kind, channel, offset, payload):
        if kind == META:
            need(payload[-1:] == b"\0", "META without its NUL")
            for pair in payload[:-1].split(b"\0"):
                key, equals, value = pair.partition(b"=")
                if equals:
                    self.meta[key.decode()] = value.decode(errors="replace")
        elif kind == DEVICES:
            for entry in entries(payload, "<6I2Q64s"):
                self.devices[entry[0]] = entry
        elif kind == CHANNELS:
            for entry in entries(payload, "<4I"):
                self.channels[entry[0]] = entry
        elif kind == DATA:
            counter = self.counters.setdefault(channel, Counter())
            need(counter.bytes == offset, f"a gap in channel {channel}")
            if self.channels[channel][3] == 1:
                counter.feed(payload)
            else:
                counter.bytes += len(payload)
        elif kind == DROPS:
            self.drops += entries(payload, "<IIQQQII")
        elif kind == NAMES:
            self.names += entries(payload, "<QII16s")
        elif kind == CLOCK:
            self.clocks += entries(payload, "<QQQ")
        else:
            need(kind == END, f"a block of type {kind}")
            self.end = struct.unpack_from("<QQQII", payload)
            totals = entries(payload[32:], "<IIQQQ")
            need(len(totals) == self.end[4] == len(self.channels), "number of totals")
            need(self.end[2] == self.blocks, "number of blocks")
            for i, total in enumerate(totals):
                c = self.counters.get(i, Counter())
                need(total == (i, 0, c.bytes, c.events, c.notes), f"total of channel {i}")

    def list(self):
        for key, value in self.meta.items():
            print(f"meta {key}={value}")
        for index, entry in sorted(self.devices.items()):
            name = entry[8].split(b"\0")[0].decode(errors="replace")
            print(f"device {index} {name} {entry[1] >> 20}:{entry[1] & 0xfffff} flags {entry[2]} "
                  f"protocol {entry[3]} disk {entry[4] >> 20}:{entry[4] & 0xfffff} "
                  f"start {entry[6]} sectors {entry[7]}")
        for number, entry in sorted(self.channels.items()):
            c = self.counters.get(number, Counter())
            print(f"channel {number} device {entry[1]} cpu {entry[2]} kind {entry[3]} "
                  f"bytes {c.bytes} events {c.events} notes {c.notes}")
        for device, cpu, start, end, count, flags, _ in self.drops:
            print(f"drops device {device} cpu {cpu} from {start} to {end} count {count} flags {flags}")
        for time, pid, _, comm in self.names:
            print(f"name {pid} {comm.split(bytes(1))[0].decode(errors='replace')} at {time}")
        if self.end:
            print(f"end reason {self.end[3]} blocks {self.end[2]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log")
    parser.add_argument("--no-check", action="store_true", help="leave out payload checksums")
    arguments = parser.parse_args()
    with open(arguments.log, "rb") as file:
        data = file.read()
    try:
        log = Log(data, not arguments.no_check)
    except Bad as bad:
        sys.exit(f"read_log.py: {arguments.log}: {bad}")
    log.list()
    return 0 if log.end else 3


if __name__ == "__main__":
    sys.exit(main())
