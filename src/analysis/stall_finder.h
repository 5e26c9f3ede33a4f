/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stalls in samples of processes, disk and kernel: who was blocked, who wrote, what moved.
 *
 * One pass; memory for the processes and ticks of the lead-in and of the stall that is open. All
 * times are on the samples' monotonic clock. A figure that is not known is NaN.
 *
 * Delay accounting tells a wait when it ends: what a row says was waited lies before it. A process
 * in state D tells it as it happens. Both are put together to one interval for each process.
 */
#ifndef BLKBOX_ANALYSIS_STALL_FINDER_H
#define BLKBOX_ANALYSIS_STALL_FINDER_H

#include "cleanup.h"
#include "stall_row.h"

#include <math.h>

enum {
	STALL_LIST_MAX = 8, /* of victims, writers, disks and notes that are told of a stall */
	STALL_ROWS_MAX = 1 << 20, /* that are kept: 40 MiB; of more, the oldest are given up */
};

/** A stall that lasts longer is told in pieces. */
#define STALL_PIECE_NS (UINT64_C(60) * 1000000000)

/** Who was blocked. */
struct stall_victim {
	char name[STALL_NAME_BYTES];
	uint32_t pid;
	uint64_t start_ns, end_ns;
	double blocked_ms;   /* of all its threads together */
	double longest_ms;   /* of that, what one row told: near the longest wait */
	bool measured;	     /* by delay accounting; else about, from samples in state D */
	bool threads_add_up; /* it is more than one thread alone can have waited */
	bool goes_on;	     /* it was still blocked at the end of the piece, or of the samples */
	uint32_t samples;    /* in state D */
	double wrote_kb;     /* itself, meanwhile and in the lead-in */
	uint32_t tid;	     /* of the thread that waited most; 0 = not known */
	char thread[STALL_NAME_BYTES]; /* "" = not known, as the next */
	char wchan[STALL_NAME_BYTES];
};

enum stall_writer_kind {
	STALL_WRITES_UNKNOWN,
	STALL_WRITES_BUFFERED, /* the kernel writes it later: calls, but nothing charged, or dirty
				* memory grew
				*/
	STALL_WRITES_DIRECT,   /* charged as it was written, and dirty memory did not grow */
	STALL_WRITES_MAPPED,   /* charged without calls: mapped files, or the file system's own */
	STALL_READS,
};

/** Who wrote, or read. */
struct stall_writer {
	char name[STALL_NAME_BYTES];
	uint32_t pid; /* 0: all that were not watched */
	enum stall_writer_kind kind;
	/* [0] in the lead-in, [1] during the stall */
	double calls_kb[2];  /* through write calls: to files, and to pipes and sockets, too */
	double device_kb[2]; /* charged to it as written to a device */
	double read_kb[2];   /* from a device */
};

struct stall_disk {
	char name[STALL_NAME_BYTES]; /* "" = of all disks that were watched */
	double write_kb[2];
	double read_kb[2];
	double busy_ms[2];
	double known_ms[2]; /* time of which @busy_ms tells */
	double in_flight_max;
};

/** What of the kernel's own mechanisms moved. [0] in the lead-in, [1] during the stall. */
struct stall_system {
	bool is_known;
	double compact[2], allocstall[2], majfault[2]; /* events */
	double dirty_kb[2], writeback_kb[2];	       /* the greatest */
	double dirty_first_kb, writeback_first_kb;     /* the least of the lead-in */
	double memavail_kb;			       /* the least, during the stall */
	double psi_ms[4];			       /* io some, full; memory some, full */
	double missed_ticks;
};

struct stall_event {
	uint64_t start_ns, end_ns;
	uint64_t lead_ns; /* how much of the lead-in there was */
	bool is_moment;	  /* somebody asked for this time */
	bool has_wall;
	int64_t wall_offset_ns; /* wall clock = monotonic + this */
	double tick_ms;		/* between two samples, mean: how exact the times are */
	struct stall_victim victims[STALL_LIST_MAX]; /* writers last, then the longest first */
	size_t n_victims, all_victims;
	struct stall_writer writers[STALL_LIST_MAX]; /* the most first */
	size_t n_writers, all_writers;
	struct stall_disk disks[STALL_LIST_MAX];
	size_t n_disks;
	struct stall_system system;
	char notes[STALL_LIST_MAX][STALL_NOTE_BYTES];
	size_t n_notes;
	bool rows_lost; /* too many: the lead-in is not whole */
};

/** True for what moved enough to be a cause, by the numbers of struct stall_system. */
bool stall_compaction(const struct stall_system *system);
bool stall_reclaim(const struct stall_system *system);
bool stall_writeback(const struct stall_system *system);

/** A moment as people give it. */
struct stall_moment {
	bool is_set, is_wall; /* CLOCK_REALTIME; else monotonic */
	uint64_t ns;
};

struct stall_finder_options {
	uint64_t threshold_ns;	/* that a process must have been blocked */
	uint64_t window_ns;	/* the lead-in */
	struct stall_moment at; /* if set: this time and @window_ns around it, instead of stalls */
};

/** What all rows were. */
struct stall_summary {
	uint64_t ticks, rows, notes, runs;
	double missed_ticks;
	bool has_wall;
	uint64_t first_ns, last_ns; /* monotonic, of the first and the last run */
	uint64_t first_wall_ns, last_wall_ns;
	uint64_t process_rows;
	uint64_t state_d;     /* rows */
	uint64_t blkio_known; /* rows that tell waits */
	uint64_t blkio_nonzero;
};

/** A stall has ended; valid during the call. What is not 0 is handed on. */
typedef int (*stall_found)(void *context, const struct stall_event *stall);

struct stall_finder;

/** -ENOMEM. @context is borrowed. */
int stall_finder_create(const struct stall_finder_options *options, stall_found found,
			void *context, struct stall_finder **ret);
void stall_finder_destroy(struct stall_finder *finder);
DEFINE_CLEANUP(struct stall_finder, stall_finder_destroy);

/** The next row, in the order of the file. -ENOMEM, or what the callback returned. */
int stall_finder_row(struct stall_finder *finder, const struct stall_row *row);
/** What follows is of another run: another machine, boot or file. As stall_finder_row(). */
int stall_finder_break(struct stall_finder *finder);
/** No more rows. */
int stall_finder_finish(struct stall_finder *finder);
const struct stall_summary *stall_finder_summary(const struct stall_finder *finder);
/** True if the time that was asked for was among the samples. */
bool stall_finder_has_moment(const struct stall_finder *finder);

#endif
