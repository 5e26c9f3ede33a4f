#!/usr/bin/env python3
"""The kernel's trace calls, made by somebody who is not blkbox.

trace-ioctl.py probe DEVICE       prints "free" or the name of the error that a set-up gives; leaves nothing behind
trace-ioctl.py setup DEVICE [BYTES N]   set-up (protocol v1) and start; N sub-buffers of so many bytes for each CPU
trace-ioctl.py stop DEVICE
trace-ioctl.py teardown DEVICE
"""
import errno
import fcntl
import os
import struct
import sys

SETUP, START, STOP, TEARDOWN = 0xC0481273, 0x1274, 0x1275, 0x1276


def setup(fd, size=65536, count=4):
    fcntl.ioctl(fd, SETUP, bytearray(struct.pack("<32sH2xII4xQQI4x", b"", 0, size, count, 0, 0, 0)))


def main(command, device, *buffers):
    fd = os.open(device, os.O_RDONLY | os.O_NONBLOCK)
    if command == "probe":
        try:
            setup(fd)
        except OSError as error:
            print(errno.errorcode[error.errno])
            return
        fcntl.ioctl(fd, TEARDOWN)
        print("free")
    elif command == "setup":
        setup(fd, *map(int, buffers))
        fcntl.ioctl(fd, START)
    else:
        fcntl.ioctl(fd, {"stop": STOP, "teardown": TEARDOWN}[command])


if len(sys.argv) not in (3, 5):
    sys.exit(__doc__)
main(*sys.argv[1:])
