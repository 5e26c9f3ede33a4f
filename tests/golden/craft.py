# SPDX-License-Identifier: MIT
"""Makes logs and blktrace records by hand, as blkbox-log(5) and the kernel describe them."""
import struct
import subprocess

from xxh3 import xxh3_64

NONE = 0xffffffff
META, DEVICES, CHANNELS, DATA, DROPS, NAMES, CLOCK, END = range(1, 9)
RELAY, PAGES = 1, 2
QUEUE, ISSUE, COMPLETE, MESSAGE, PROCESS = 0x10001 | 1 << 18, 0x10007, 0x10008, 0x4000002, 0x4000000


def header():
    raw = struct.pack("<8sHHIQQ16sQ", bytes.fromhex("89424c4b424f580a"), 1, 64, 0, 1000,
                      1700000000000000000, bytes(16), 0)
    return raw + struct.pack("<Q", xxh3_64(raw))


def block(kind, payload, channel=NONE, offset=0, raw_bytes=None, flags=0):
    raw_bytes = len(payload) if raw_bytes is None else raw_bytes
    head = struct.pack("<IHHIIIIQQQ", 0xb10cb10c, kind, flags, channel, raw_bytes, len(payload), 0,
                       xxh3_64(payload), offset, 2000)
    check = xxh3_64(head) & 0xffffffff
    return head[:20] + struct.pack("<I", check) + head[24:] + payload


def meta(**pairs):
    return block(META, b"".join(f"{k}={v}".encode() + b"\0" for k, v in pairs.items()))


def device(name, index=0, number=8 << 20):
    return block(DEVICES, struct.pack("<6I2Q64s", index, number, 0, 1, number, 0, 0, 1 << 20, name))


def channel(number=0, device_index=0, cpu=0, kind=RELAY):
    return block(CHANNELS, struct.pack("<4I", number, device_index, cpu, kind))


def packed(raw, number=0, offset=0):
    frame = subprocess.run(["zstd", "-19cq"], input=raw, stdout=subprocess.PIPE, check=True).stdout
    return block(DATA, frame, number, offset, len(raw), 1)


def end(totals=(), claimed=None, blocks=0):
    return block(END, struct.pack("<3QII", 9000, 1700000000000009000, blocks, 3,
                                  len(totals) if claimed is None else claimed) +
                 b"".join(struct.pack("<II3Q", i, 0, *t) for i, t in enumerate(totals)))


def record(sequence, time, action, pdu=b"", sector=8, size=4096, pid=7, number=8 << 20, cpu=0, error=0,
           pdu_len=None):
    return struct.pack("<IIQQIIIIIHH", 0x65617407, sequence, time, sector, size, action, pid, number,
                       cpu, error, len(pdu) if pdu_len is None else pdu_len) + pdu


def record2(sequence, time, action, pdu=b"", pdu_len=None, cpu=0):
    return struct.pack("<IIQQIIQIIHH12x", 0x65617408, sequence, time, 8, 4096, 7, action, 8 << 20, cpu,
                       0, len(pdu) if pdu_len is None else pdu_len) + pdu
