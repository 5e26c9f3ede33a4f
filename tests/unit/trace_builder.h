/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Builds traces from literals: the bytes that a kernel would have written, for the real readers.
 * It shares no code with what reads them.
 *
 *	TRACE(&t, .t = 10, .act = 'Q', .rwbs = "WS", .sector = 8, .bytes = 4096, .pid = 7);
 */
#ifndef BLKBOX_TESTS_TRACE_BUILDER_H
#define BLKBOX_TESTS_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel numbers the events of each device and CPU. */
struct trace_lane {
	uint32_t device, cpu;
	uint32_t sequence;
};

struct trace {
	uint8_t *bytes;
	size_t n;
	size_t room;
	uint32_t skipped;  /* numbers to be left out in front of the next event */
	uint32_t sequence; /* of the last event */
	struct trace_lane lanes[32];
	size_t n_lanes;
};

struct trace_record {
	int protocol; /* 0 = 1 */
	bool swapped; /* in the other byte order */
	double t;     /* microseconds */
	uint64_t ns;  /* added to @t */
	/*
	 * Q G I D C M F R X A P U S B; T = UT; O = own code in @code; Z and z = zone plug, unplug.
	 * Notes: n = process name in @text, t = timestamp of @sector seconds, m = message in @text.
	 */
	char act;
	uint16_t code;
	const char *rwbs; /* of R W D F(first: preflush; later: FUA) N S M A; V = passthrough */
	uint64_t more_categories;
	uint32_t sequence; /* 0 = counted on */
	uint64_t sector;
	uint32_t bytes;
	uint32_t pid;
	uint32_t cpu;
	uint32_t device; /* 0 = 8,0 */
	int error;	 /* as stored: negative errno */
	uint64_t cgroup; /* 0 = none */
	const char *text;
	const void *pdu;
	size_t pdu_bytes;
	uint64_t number; /* payload of U, T and X */
	uint32_t from_device;
	uint64_t from_sector;
};

void trace_add(struct trace *trace, const struct trace_record *record);
void trace_bytes(struct trace *trace, const void *bytes, size_t size);
void trace_free(struct trace *trace);

#define TRACE(trace, ...) trace_add(trace, &(struct trace_record){__VA_ARGS__})

/** A directory of its own, removed by test_dir_remove(). Static storage: one at a time. */
const char *test_dir(void);
void test_dir_remove(void);
/** Path of @name in it; static storage, eight at a time. */
const char *test_path(const char *name);
void test_file(const char *name, const void *bytes, size_t size);
void trace_file(const struct trace *trace, const char *name);

#endif
