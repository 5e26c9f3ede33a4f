# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What every live test starts with: its verdicts, the one trace buffer for itself, mounts that nobody
# else sees. Sourced with the test's own arguments.

skip() { echo "skipped: $1"; exit 77; }
fail() { echo "FAILED: $1"; exit 1; }

blkbox=$1
[ "$(id -u)" = 0 ] || skip "only root may trace"

# What is mounted here, nobody else sees.
if [ -z "${LIVE_INSIDE:-}" ]; then
	# There is one trace buffer, and anybody's trace is in the way of the others' tests.
	exec 8>/run/lock/blkbox-live-tests
	flock -w 240 8 || skip "another test traces"
	LIVE_INSIDE=1 unshare -m --propagation private "$0" "$@" && exit 0 || exit $?
fi
