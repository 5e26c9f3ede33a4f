#!/bin/bash
# The harness itself: the kernels must be what the tests take them for, those with blktrace protocol v2 and those without.
# shellcheck source=../guest-lib.sh
source "$(dirname "$0")/../guest-lib.sh"
need python3

dev=$(vm_null_blk)
# The set-up ioctl of v2 with no structure: EFAULT tells that the kernel would have read it.
found=$(python3 - "/dev/$dev" <<'PY'
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(sys.argv[1], os.O_RDONLY)
result = libc.ioctl(fd, ctypes.c_ulong(0xC0C0128E), None)
print("success" if result == 0 else errno.errorcode[ctypes.get_errno()])
PY
)
echo "BLKTRACESETUP2 without a structure: $found"
if kernel_at_least 7 0; then
    expect_eq 'protocol v2 probe' EFAULT "$found"
else
    [[ $found != EFAULT && $found != success ]] || fail "a kernel before 6.19 has protocol v2: $found"
fi
