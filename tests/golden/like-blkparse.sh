# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables that it shares with who sources it
# Holds `blkbox dump` against blkparse, line for line. Sourced with $blkbox and $work set; counts in $compared, sets $bad.
#
# Differences in which blkbox is right, and how they are taken out here:
# - blkparse 1.2.0 does not know the cgroup flag and leaves out every event and note that has it (all
#   notes of today's kernels have); $set may have a copy without the ids. $notes is a command that takes blkbox's notes, and the count with
#   them, out of both texts.
# - It prints errors as unsigned ([65475] for -61): made signed.
# - It prints thread 0 for every note: so here, too. A line end in a note breaks its line; blkbox
#   escapes it.
# - It calls every CPU's idle thread by the name of the first one that it sees (swapper/0).
# - With -t it shows times of I/Os that were never allocated or inserted, from uninitialised memory
#   (direct issue, flushes); and none for completions of bio-based devices unless their major
#   number is 253 or 9. $normalise is a command that takes them out of both texts.
# - It counts the time of notes into the rate.
# - With a mask its summary has the CPUs that have nothing to show, and the rate is over the time of
#   all events, not of those that it shows: not compared.
# - %z of a set of files is off by the time between start and first event; a stream's is right.
bad=0 compared=0 set=. notes=cat normalise=cat
export LC_ALL=C TZ=UTC
without_notes="grep -vE '  m   N |^Events|^$'"

# Unsigned 16-bit errors at the ends of lines, and in fields, as signed numbers.
signed_errors()
{
	awk '{ if (match($0, /\[65[0-9][0-9][0-9]\]$/)) $0 = substr($0, 1, RSTART) \
		(substr($0, RSTART + 1, 5) - 65536) "]"; print }'
}

ours()
{
	"$blkbox" dump "$@" 2>"$work/errors" |
		sed -E 's/^(.{35}) +[0-9]+(  m   N )/\1     0\2/; s/\\x0a$/\n/; s,swapper/[0-9]+,swapper/N,g'
}

theirs()
{
	blkparse "$@" 2>/dev/null | grep -v '^Input file' | signed_errors |
		sed -E 's,swapper/[0-9]+,swapper/N,g'
}

hold()
{
	compared=$((compared + 1))
	if ! diff <(eval "$notes" <"$work/theirs" | eval "$normalise") \
		<(eval "$notes" <"$work/ours" | eval "$normalise") \
		>"$work/diff"; then
		echo "FAILED: $*"
		head -8 "$work/diff"
		bad=1
	fi
}

# compare BASE... -- OPTION...: the same options for both. blkparse reads the files of these names in
# $set.
compare()
{
	local bases=() names=()
	while [ "$1" != -- ]; do bases+=("$1"); names+=(-i "${1##*/}"); shift; done
	shift
	(cd "$set" && theirs "${names[@]}" "$@") >"$work/theirs"
	ours "${bases[@]}" "$@" >"$work/ours"
	hold "${bases[@]}" "$@"
}
