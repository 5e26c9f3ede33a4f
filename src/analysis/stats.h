/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a recording's I/Os add up to: counts, latencies by stage, depth, seeks, plugs, time series,
 * by device, operation, size, process, cgroup and CPU. One pass; memory is bounded whatever the
 * length of the recording.
 *
 * All figures are of the I/Os that the filter lets pass. Latencies are of I/Os without an error
 * whose life no lost event touches and whose times are in order; what is left out is counted.
 */
#ifndef BLKBOX_ANALYSIS_STATS_H
#define BLKBOX_ANALYSIS_STATS_H

#include "filter.h"
#include "histogram.h"
#include "stats_ios.h"

/**
 * Latencies, as btt calls them. Q queue, A remap (Q is then that on the device above), G request
 * allocated, M merged, I inserted, D issued, C completed. Of pieces, except where it is said.
 */
enum stats_stage {
	STAGE_Q2Q, /* between the queue events of one device and operation */
	STAGE_Q2A,
	STAGE_Q2G,
	STAGE_G2I,
	STAGE_G2D, /* without an insert: issued directly */
	STAGE_I2D,
	STAGE_Q2M,
	STAGE_M2D,
	STAGE_Q2D,	   /* to the last issue */
	STAGE_D2C,	   /* from the last issue: the device's service time */
	STAGE_FIRST_D2C,   /* from the first issue: with requeues */
	STAGE_Q2C,	   /* of whole I/Os */
	STAGE_REQUEST_D2C, /* D2C of requests, each once however many bios it has */
	STAGES
};

/** "q2c" */
const char *stats_stage_name(enum stats_stage stage);

/** Where the time from Q to C of an I/O went, by its piece that completed last. Sums up to Q2C. */
enum stats_share {
	SHARE_Q2G,
	SHARE_G2I,
	SHARE_G2D,
	SHARE_I2D,
	SHARE_Q2M,
	SHARE_M2D,
	SHARE_Q2D,     /* neither allocation nor merge was seen */
	SHARE_REQUEUE, /* from the first issue to the last */
	SHARE_D2C,
	SHARE_FLUSH, /* from the completion of its data to that of the flush behind it */
	SHARE_Q2C,   /* bio-based: no issue on this device */
	SHARES
};

const char *stats_share_name(enum stats_share share);

enum {
	STATS_LOG2_ROWS = 32,  /* of microseconds: row r is 2^(r-1) to 2^r - 1, row 0 is below 1 */
	STATS_HEAT_ROWS = 112, /* four to a power of two, from 1 microsecond; row 0 from 0 */
	STATS_OFFSET_ROWS = 128,
	STATS_BUCKETS_MAX = 600,  /* of time */
	STATS_SERIES_MAX = 16,	  /* devices with time series; further ones have none */
	STATS_GROUPS_MAX = 1024,  /* of a kind, those that waited longest; the rest is `others` */
	STATS_GROUPS_HELD = 8192, /* processes while reading; those behind them are others */
	STATS_SIZES = 14,
	STATS_IOS_MAX = 1000,
};

/** Figures of one class of I/Os. */
struct stats_group {
	/* What it is; what does not apply is 0. */
	uint32_t tag, device;
	enum operation operation;
	uint32_t size_class; /* stats_size_from() */
	enum owner_kind owner;
	uint32_t pid, cpu;
	uint64_t cgroup_id;
	char comm[NAMES_COMM_BYTES + 1]; /* "" = unknown */
	bool others;

	uint64_t queued, queued_bytes;
	uint64_t ios, bytes;	       /* completed, without an error */
	uint64_t data_bytes;	       /* of bytes: reads' and writes', which were transferred */
	uint64_t errors, error_bytes;  /* completed with one */
	uint64_t issued, issued_bytes; /* requests, first issues */
	uint64_t requeues;
	uint64_t requests, request_bytes; /* completed */
	uint64_t merges[TRACK_UNANNOUNCED + 1];
	uint64_t merged_bytes; /* that went into a request of others */
	uint64_t splits;
	uint64_t ended[TRACK_ENDS], ended_bytes[TRACK_ENDS]; /* did not complete; bytes not done */
	uint64_t partial;				     /* of those: a part did */
	uint64_t ended_requests[TRACK_ENDS];		     /* issued and not completed */
	uint64_t strays[TRACK_STRAYS];			     /* completions of nothing */
	uint64_t no_queue;				     /* I/Os that were not seen queued */
	uint64_t no_issue;		      /* completed and never issued, though not bio-based */
	uint64_t touched;		      /* I/Os left out of latencies: events were lost */
	uint64_t inverted;		      /* left out: times not in order */
	struct histogram *stages[STAGES];     /* nanoseconds; NULL = none */
	uint64_t log2_us[2][STATS_LOG2_ROWS]; /* [0] Q2C, [1] D2C */
	uint64_t share_ns[SHARES];
	uint64_t share_ios;	    /* I/Os in share_ns */
	uint64_t first_ns, last_ns; /* of begins and ends */
	uint64_t last_queue_ns;
};

/** Adds what can be added up: all but Q2Q. -ENOMEM. */
int stats_group_add(struct stats_group *to, const struct stats_group *from);
void stats_group_deinit(struct stats_group *group);

/** For sorting: the longer wait (Q2C added up) first; others last. */
int stats_compare_waits(const struct stats_group *a, const struct stats_group *b);

struct stats_groups {
	struct stats_group **items;
	size_t n;
};

/** Where the heads would have to go. Distances are absolute, in sectors. */
struct stats_seek {
	struct histogram distance;
	uint64_t sequential; /* of distance 0: where the one before ended */
	uint64_t next_sector;
	bool has_last;
};

/** Plugs of processes, on one device. */
struct stats_plugs {
	uint64_t plugs, unplugs, timer_unplugs;
	uint64_t no_plug;   /* unplugs without a plug */
	uint64_t no_unplug; /* plugs that were not seen to end */
	struct histogram plugged_ns;
	struct histogram requests; /* let go by an unplug */
	struct histogram timer_requests;
};

/** How much was in flight, while nothing was being lost. */
struct stats_depth {
	uint64_t trusted_ns; /* time for which it is known */
	uint64_t busy_ns;    /* of that, with a request in the driver; bio-based: an I/O open */
	unsigned __int128 issued_sum, open_sum; /* depth x nanoseconds */
	uint64_t issued_max, open_max;
	struct histogram idle_ns;	 /* gaps without anything in flight */
	uint64_t last_ns, idle_since_ns; /* 0 = not yet, not idle */
	uint64_t issued, open;
};

/** 0 read, 1 write, 2 everything else. */
enum {
	SERIES_READ,
	SERIES_WRITE,
	SERIES_OTHER,
	SERIES_KINDS
};

/** One span of time. I/Os count where they complete. */
struct stats_bucket {
	uint64_t ios[SERIES_KINDS], bytes[SERIES_KINDS]; /* without an error */
	uint64_t errors;
	uint64_t queued;
	uint64_t q2c_n, q2c_sum_ns, q2c_max_ns;
	uint64_t d2c_n, d2c_sum_ns, d2c_max_ns;
	double issued_sum, open_sum; /* depth x nanoseconds */
	uint64_t trusted_ns, busy_ns;
	uint64_t issued_max, open_max;
};

struct stats_series {
	uint64_t from_ns;
	uint64_t width_ns; /* of a bucket: 1, 2 or 5 times a power of ten */
	size_t n;
	size_t last; /* that was looked for: most are looked for again */
	struct stats_bucket *buckets;
	uint32_t *heat[2];    /* [bucket * STATS_HEAT_ROWS + row]: [0] Q2C, [1] D2C */
	uint32_t *offsets[2]; /* [bucket * STATS_OFFSET_ROWS + row]: completed reads, writes */
	uint64_t row_sectors; /* of an offset row */
};

/** @factor neighbouring buckets become one. @ret owns its memory. -ENOMEM. */
int stats_series_fold(const struct stats_series *series, size_t factor, struct stats_series *ret);
void stats_series_deinit(struct stats_series *series);
void stats_bucket_add(struct stats_bucket *to, const struct stats_bucket *from);

struct stats_device {
	uint32_t tag, device;
	const char *name; /* the recording's */
	uint8_t protocol;
	const struct track_now *now;			 /* NULL = no event so far */
	struct stats_group *operations[OPERATION_COUNT]; /* NULL = none */
	struct stats_group all; /* all of them, without passthrough; Q2Q is of the device */
	struct stats_seek queue_seek, issue_seek;
	struct stats_plugs plugs;
	struct stats_depth depth;
	struct stats_series series; /* n = 0: too many devices, or nothing in the span */
	uint64_t from_ns, to_ns;    /* when it was watched: of the span of all figures */
	uint64_t events;
	uint64_t dropped, loss_windows; /* of this device, or of all of its input */
	uint64_t lost_ns;		/* time in loss windows */
	uint64_t gaps, gap_events;	/* by sequence numbers */
	uint64_t impossible; /* events left out: no device has the sector that they name */
	bool has_queue, has_issue, has_completion; /* such events were recorded at all */
	bool bio_based;
};

struct stats_result {
	uint64_t from_ns, to_ns; /* the span of all figures */
	uint64_t events;	 /* read, without notes; not filtered */
	uint64_t late_events;
	struct stats_device *devices;
	size_t n_devices;
	struct stats_groups sizes; /* by operation and size */
	struct stats_groups processes;
	struct stats_groups cgroups;
	struct stats_groups cpus;    /* that queued */
	struct stats_ios slowest;    /* completed without an error; the slowest first */
	struct stats_ios failed;     /* the first ones */
	struct stats_ios unfinished; /* no loss tells why; those that were open longest first */
	bool with_losses;
	/* Those that the recording tells, and those that sequence numbers tell. */
	struct recording_loss *losses;
	size_t n_losses;
};

struct stats_options {
	const struct filter *filter; /* resolved; NULL = all. Borrowed. */
	size_t slowest;		     /* how many; at most STATS_IOS_MAX */
	size_t failed;		     /* how many, and how many that did not complete; the same */
	bool with_losses;	     /* latencies of I/Os that losses touch, too */
};

struct stats;

/** @recording: to be read from its start by the caller; borrowed. */
int stats_create(const struct stats_options *options, const struct recording *recording,
		 struct stats **ret);
void stats_destroy(struct stats *stats);
DEFINE_CLEANUP(struct stats, stats_destroy);

/** The next event of the recording, all of them. -ENOMEM. */
int stats_event(struct stats *stats, const struct merge_item *item);
/** After the last one; then stats_result() is complete. */
int stats_finish(struct stats *stats);
const struct stats_result *stats_result(const struct stats *stats);

/** The least size of a class, in bytes: 0, 1, 4096, 8192 ... 4 MiB, 16 MiB. */
uint64_t stats_size_from(uint32_t size_class);
uint32_t stats_size_class(uint64_t bytes);
/** The row of the heat map, and the least latency in it. */
unsigned stats_heat_row(uint64_t ns);
uint64_t stats_heat_from_ns(unsigned row);
unsigned stats_log2_row(uint64_t ns);

#endif
