/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stalls beside a recording of the block layer: which requests were in flight meanwhile.
 */
#ifndef BLKBOX_ANALYSIS_STALL_JOIN_H
#define BLKBOX_ANALYSIS_STALL_JOIN_H

#include "owner.h"
#include "stall_finder.h"

enum {
	STALL_OWNERS_MAX = 32, /* that are told apart */
};

/** A request (of a device without requests: a bio). */
struct stall_request {
	uint32_t tag, device;
	enum operation operation;
	uint64_t sector, bytes;	       /* UINT64_MAX: it has no place */
	uint64_t queued_ns, issued_ns; /* 0 = not seen */
	uint64_t completed_ns;	       /* 0 = it was still in flight when the recording ended */
	uint64_t latency_ns;	       /* from the first of these to the last; so far */
	bool touched;		       /* events were lost meanwhile: it may be wrong */
	enum owner_kind owner;
	uint32_t pid;
	char comm[NAMES_COMM_BYTES + 1];
};

struct stall_owner {
	enum owner_kind kind;
	uint32_t pid;
	char comm[NAMES_COMM_BYTES + 1];
	uint64_t requests, bytes, max_latency_ns;
};

/** What was in flight during a stall. Times are the recording's. */
struct stall_requests {
	uint64_t start_ns, end_ns;
	bool is_covered; /* the recording has events around this time */
	bool by_wall;	 /* aligned by wall clock; else both are on one monotonic clock */
	uint64_t n, bytes, max_latency_ns;
	struct stall_request slowest[STALL_LIST_MAX]; /* the slowest first */
	size_t n_slowest;
	struct stall_owner owners[STALL_OWNERS_MAX]; /* the most bytes first */
	size_t n_owners;
};

/**
 * Reads @recording from its start, for all of @stalls. @ret: room for as many.
 * -ENOMEM, or an error of reading.
 */
int stall_join(struct recording *recording, const struct stall_event *stalls, size_t n,
	       struct stall_requests *ret, struct why *why);

#endif
