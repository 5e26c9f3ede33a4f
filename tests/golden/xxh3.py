# SPDX-License-Identifier: MIT
"""XXH3-64 (seed 0, default secret): slow, plain, and not the library that the product uses."""
import struct

M = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def u32(b, at):
    return int.from_bytes(b[at:at + 4], "little")


def u64(b, at):
    return int.from_bytes(b[at:at + 8], "little")


def fold(a, b):
    product = a * b
    return (product & M) ^ (product >> 64)


def avalanche64(h):
    h = (h ^ h >> 33) * P64_2 & M
    h = (h ^ h >> 29) * P64_3 & M
    return h ^ h >> 32


def avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & M
    return h ^ h >> 32


def rotl(x, n):
    return (x << n | x >> 64 - n) & M


def short(b):
    n = len(b)
    if n == 0:
        return avalanche64(u64(SECRET, 56) ^ u64(SECRET, 64))
    if n <= 3:
        x = b[0] << 16 | b[n >> 1] << 24 | b[-1] | n << 8
        return avalanche64(x ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    if n <= 8:
        h = (u32(b, n - 4) + (u32(b, 0) << 32)) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        h ^= rotl(h, 49) ^ rotl(h, 24)
        h = h * 0x9FB21C651E98DF25 & M
        h ^= (h >> 35) + n
        h = h * 0x9FB21C651E98DF25 & M
        return h ^ h >> 28
    lo = u64(b, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
    hi = u64(b, n - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
    swapped = int.from_bytes(lo.to_bytes(8, "little"), "big")
    return avalanche(n + swapped + hi + fold(lo, hi) & M)


def mix16(b, at, secret):
    return fold(u64(b, at) ^ u64(SECRET, secret), u64(b, at + 8) ^ u64(SECRET, secret + 8))


def middle(b):
    n = len(b)
    acc = n * P64_1 & M
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            acc += mix16(b, 16 * i, 32 * i) + mix16(b, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(acc & M)
    for i in range(8):
        acc += mix16(b, 16 * i, 16 * i)
    acc = avalanche(acc & M)
    for i in range(8, n // 16):
        acc += mix16(b, 16 * i, 16 * (i - 8) + 3)
    acc += mix16(b, n - 16, 136 - 17)
    return avalanche(acc & M)


def accumulate(acc, b, at, secret):
    values = struct.unpack_from("<8Q", b, at)
    keys = struct.unpack_from("<8Q", SECRET, secret)
    for i in range(8):
        key = values[i] ^ keys[i]
        acc[i ^ 1] += values[i]
        acc[i] = acc[i] + (key & 0xffffffff) * (key >> 32) & M
    for i in range(8):
        acc[i] &= M


def long(b):
    n = len(b)
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    stripes = (len(SECRET) - 64) // 8
    blocks = (n - 1) // (64 * stripes)
    for block in range(blocks):
        for i in range(stripes):
            accumulate(acc, b, 64 * (block * stripes + i), 8 * i)
        for i in range(8):
            acc[i] = (acc[i] ^ acc[i] >> 47 ^ u64(SECRET, 128 + 8 * i)) * P32_1 & M
    start = 64 * stripes * blocks
    for i in range((n - 1 - start) // 64):
        accumulate(acc, b, start + 64 * i, 8 * i)
    accumulate(acc, b, n - 64, 128 - 7)
    h = n * P64_1
    for i in range(4):
        h += fold(acc[2 * i] ^ u64(SECRET, 11 + 16 * i), acc[2 * i + 1] ^ u64(SECRET, 19 + 16 * i))
    return avalanche(h & M)


def xxh3_64(b):
    if len(b) <= 16:
        return short(b)
    return middle(b) if len(b) <= 240 else long(b)
