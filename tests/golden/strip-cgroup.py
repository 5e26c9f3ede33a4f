#!/usr/bin/env python3
"""Copies a blktrace file without its cgroup ids: blkparse does not know that flag.

strip-cgroup.py IN OUT: native byte order, protocol v1.
"""
import struct
import sys

CGROUP = 0x100

data = open(sys.argv[1], "rb").read()
out = bytearray()
at = 0
while at < len(data):
    head = bytearray(data[at : at + 48])
    (action,) = struct.unpack_from("<I", head, 28)
    (pdu_len,) = struct.unpack_from("<H", head, 46)
    pdu = data[at + 48 : at + 48 + pdu_len]
    at += 48 + pdu_len
    if action & CGROUP:
        pdu = pdu[8:]
        struct.pack_into("<I", head, 28, action & ~CGROUP)
        struct.pack_into("<H", head, 46, len(pdu))
    out += head + pdu
open(sys.argv[2], "wb").write(out)
