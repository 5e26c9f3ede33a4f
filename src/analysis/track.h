/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The life of every I/O: from the bio that was queued, through merges, splits, requests, requeues
 * and remaps, to its completion. One pass; memory for what is in flight only.
 *
 * Three things come to an end, and each is told when it does:
 * - an I/O (a bio): all its bytes are completed,
 * - a piece: the part of a bio that went through one request. Most bios are one piece; a bio that
 *   was split is several. btt counts pieces,
 * - a request: what the driver was handed, with the pieces of one or more bios.
 * A request whose bios were not seen queued is one I/O without a queue time.
 *
 * Matching goes by device, operation and sectors. Where two I/Os of one operation are at the same
 * place, the one of the same length, then the older one is taken. Two reads of one place may well
 * be in flight at once; when a place is written again, the first write's completion was lost.
 *
 * A flush without data is completed by an empty completion; so is a write that a flush goes before
 * or comes after: its bio ends there, behind the completion of its data.
 */
#ifndef BLKBOX_ANALYSIS_TRACK_H
#define BLKBOX_ANALYSIS_TRACK_H

#include "letters.h"
#include "merge.h"
#include "recording.h"

enum {
	TRACK_OPEN_MAX = 128 << 10, /* pieces; when there are more, the oldest ones are given up */
	TRACK_LEVELS_MAX = 4,	    /* of stacked devices */
};

/** An I/O that is open for longer will not complete any more: its completion was lost. */
#define TRACK_AGE_MAX_NS (UINT64_C(3600) * 1000000000)
/** When a place that is in use is used again after this long, its first use is over. */
#define TRACK_REUSE_NS (UINT64_C(5) * 1000000000)
/** CPUs' clocks differ by less: a completion this much before its issue still belongs to it. */
#define TRACK_SKEW_NS UINT64_C(10000)

/** A place on a device above, from which an I/O was remapped. */
struct track_level {
	uint32_t device;
	uint64_t sector;
};

/** Whose I/O it is: who queued it, on the highest traced device. */
struct track_owner {
	uint32_t pid;
	uint32_t cpu;
	uint64_t cgroup_id;
	uint64_t time_ns; /* when: a name can change */
	bool known;	  /* false: it was not seen queued, @pid is who issued it */
};

/** Moments of a piece; 0 = not seen, or it did not happen. */
struct track_times {
	uint64_t remapped_from_ns; /* when it was queued on the device above */
	uint64_t remapped_ns;
	uint64_t queued_ns;
	uint64_t getrq_ns;
	uint64_t merged_ns;
	uint64_t inserted_ns;	     /* before the first issue */
	uint64_t first_issued_ns;    /* differs from issued_ns after a requeue */
	uint64_t issued_ns;	     /* the last time */
	uint64_t first_completed_ns; /* of its first part */
	uint64_t data_completed_ns;  /* of its data, where a flush came behind that */
	uint64_t completed_ns;
};

enum track_merge {
	TRACK_NOT_MERGED,
	TRACK_BACK,
	TRACK_FRONT,
	TRACK_REQUEST,	   /* its request was merged into another one */
	TRACK_UNANNOUNCED, /* it was in a larger request, and no event said why */
};

/** An I/O, a piece, or a request. */
struct track_io {
	uint32_t tag;
	uint32_t device;
	uint64_t sector; /* UINT64_MAX = none (flush, passthrough) */
	uint64_t bytes;
	uint64_t io_bytes; /* of the whole I/O, of which a piece is a part */
	uint64_t done_bytes;
	uint32_t categories; /* of the first event of it */
	enum operation operation;
	struct track_owner owner;
	/* Of an I/O: those of the piece that completed last; if it did not complete, those of the
	 * piece that came furthest. Of a request, up to its issue: those of the bio that it was
	 * made for. */
	struct track_times times;
	enum track_merge merge;
	uint32_t pieces; /* of an I/O: in how many requests; of a request: how many it has */
	uint32_t requeues;
	int16_t error;
	bool bio_based; /* completed as a bio, not as a request */
	bool touched;	/* events were lost at some time of its life: its times may be wrong */
	bool inverted;	/* its times are not in order: clocks of CPUs differ */
	/* The consumer's: what it sets in queued() or piece() is there in all that is told of the
	 * I/O and its pieces later on. 0 = not set. */
	uint64_t mark;
	uint8_t n_levels; /* the nearest first */
	struct track_level levels[TRACK_LEVELS_MAX];
};

/** When it began, as far as it was seen: queued, or issued for the first time. 0 = neither. */
static inline uint64_t track_io_begin_ns(const struct track_io *io)
{
	return io->times.queued_ns ? io->times.queued_ns : io->times.first_issued_ns;
}

/** How a life ended otherwise than by completion. */
enum track_end {
	TRACK_END_IN_FLIGHT, /* the recording ended first */
	TRACK_END_LOSS,	     /* events were lost while it was open */
	TRACK_END_REUSED,    /* its place was used again: its completion was lost */
	TRACK_END_AGED,	     /* too old, or too many are open */
	TRACK_ENDS
};

/** A completion that belongs to nothing. */
enum track_stray {
	TRACK_STRAY_EARLY, /* of what was issued before the recording began */
	TRACK_STRAY_LOSS,  /* behind lost events */
	TRACK_STRAY_OTHER, /* no loss is known: the recording must have lost it untold */
	TRACK_STRAY_FLUSH, /* the empty end of a flush sequence whose bio was not seen */
	TRACK_STRAYS
};

/** What is told. Structs are valid during the call only. Results: 0 or -ENOMEM, handed on. */
struct track_ops {
	int (*queued)(void *context, struct track_io *io);
	int (*issued)(void *context, const struct track_io *request, bool again);
	int (*merged)(void *context, const struct track_io *piece);
	int (*split)(void *context, const struct track_io *io);
	int (*requeued)(void *context, const struct track_io *request);
	int (*piece)(void *context, struct track_io *piece);
	int (*request)(void *context, const struct track_io *request);
	int (*io)(void *context, const struct track_io *io);
	int (*ended)(void *context, const struct track_io *io, enum track_end end);
	int (*request_ended)(void *context, const struct track_io *request, enum track_end end);
	int (*stray)(void *context, const struct merge_item *item, enum track_stray stray);
};

struct track;

/** @ops: those that are NULL are not called. Borrowed, with @context. */
int track_create(const struct track_ops *ops, void *context, struct track **ret);
void track_destroy(struct track *track);
DEFINE_CLEANUP(struct track, track_destroy);

/** In which times events were lost. Before the first event. */
int track_set_losses(struct track *track, const struct recording_loss *losses, size_t n);
/**
 * Events of its device were lost between @since_ns and @item: what is open is over. Nothing is done
 * where a loss is known that is dated better.
 */
int track_gap(struct track *track, const struct merge_item *item, uint64_t since_ns);

/**
 * False: no device has the sector that it names; a damaged record does. Such events are not
 * followed.
 */
bool track_has_possible_place(const struct blkbox_event *event);

/** The next event, in order of time. -ENOMEM, or what a callback returned. */
int track_event(struct track *track, const struct merge_item *item);
/** A completion waits a little for an issue that comes too late. No more: strays are told now. */
int track_settle(struct track *track);
/** No more events: what is open is told as ended. */
int track_finish(struct track *track);

/** How a device is now. */
struct track_now {
	uint64_t issued;     /* requests in the driver */
	uint64_t open;	     /* I/Os from queue (or issue) to completion */
	uint64_t lost_to_ns; /* the end of the last loss that has begun */
	bool had_loss;
};
/** It stays where it is and is kept up to date. NULL: no event of the device has come. */
const struct track_now *track_now(const struct track *track, uint32_t tag, uint32_t device);

/** True if events of the device may have been lost between @from_ns and now. @now may be NULL. */
static inline bool track_touched(const struct track_now *now, uint64_t from_ns)
{
	return now && now->had_loss && now->lost_to_ns >= from_ns;
}

#endif
