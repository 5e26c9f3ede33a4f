/* SPDX-License-Identifier: MIT */
#include "blktrace_out.h"

#include "out.h"
#include "wire.h"

#include <uthash.h>

struct key {
	uint32_t tag, device, cpu;
};

/* Where the events of one device and CPU go, and how many before them were left out. */
struct lane {
	struct key key;
	uint32_t left_out;
	size_t file;
	UT_hash_handle hh;
};

struct blktrace_sink {
	struct sink sink;
	int protocol;
	struct blktrace_counts *counts;
	struct lane *lanes;
	struct out out;		      /* a stream */
	struct blktrace_files *files; /* a set; else NULL */
	blktrace_device_name name;
	void *context;
	uint8_t record[WIRE_RECORD_MAX];
};

static int find_lane(struct blktrace_sink *sink, const struct merge_item *item, struct lane **ret,
		     struct why *why)
{
	struct key key = {item->tag, item->event.device, item->event.cpu};
	struct lane *lane;
	int r;

	HASH_FIND(hh, sink->lanes, &key, sizeof(key), lane);
	if (!lane) {
		_cleanup_free_ struct lane *new = calloc(1, sizeof(*new));

		if (!new)
			return why_set(why, -ENOMEM, "no memory");
		new->key = key;
		if (sink->files) {
			r = blktrace_files_add(sink->files,
					       sink->name(sink->context, key.tag, key.device),
					       key.cpu, &new->file, why);
			if (r < 0)
				return r;
		}
		lane = take_ptr(new);
		HASH_ADD(hh, sink->lanes, key, sizeof(lane->key), lane);
	}
	*ret = lane;
	return 0;
}

static int sink_blktrace_event(struct sink *base, const struct merge_item *item, struct why *why)
{
	struct blktrace_sink *sink = (struct blktrace_sink *)base;
	struct blkbox_event event = item->event;
	bool lossy = false;
	struct lane *lane;
	int r = find_lane(sink, item, &lane, why);

	if (r < 0)
		return r;
	if (!blkbox_event_is_note(&event))
		event.sequence -= lane->left_out;
	r = wire_encode(&event, sink->protocol ? sink->protocol : event.protocol, sink->record,
			&lossy);
	if (r == -EOPNOTSUPP) {
		sink->counts->left_out++;
		lane->left_out++;
		return 0;
	}
	if (r < 0)
		return why_errno(why, r, "cannot encode a record");
	sink->counts->written++;
	sink->counts->bent += lossy;
	if (sink->files)
		return blktrace_files_append(sink->files, lane->file, sink->record, (size_t)r, why);
	out_bytes(&sink->out, sink->record, (size_t)r);
	return sink->out.error ? why_errno(why, sink->out.error, "cannot write the stream") : 0;
}

static int sink_blktrace_left_out(struct sink *base, const struct merge_item *item, struct why *why)
{
	struct lane *lane;
	int r;

	if (blkbox_event_is_note(&item->event))
		return 0;
	r = find_lane((struct blktrace_sink *)base, item, &lane, why);
	if (r == 0)
		lane->left_out++;
	return r;
}

static int sink_blktrace_flush(struct sink *base, struct why *why)
{
	struct blktrace_sink *sink = (struct blktrace_sink *)base;
	int r = sink->files ? 0 : out_flush(&sink->out);

	return r < 0 ? why_errno(why, r, "cannot write the stream") : 0;
}

static int sink_blktrace_finish(struct sink *base, struct why *why)
{
	struct blktrace_sink *sink = (struct blktrace_sink *)base;

	return sink->files ? blktrace_files_commit(sink->files, why)
			   : sink_blktrace_flush(base, why);
}

static void sink_blktrace_destroy(struct sink *base)
{
	struct blktrace_sink *sink = (struct blktrace_sink *)base;
	struct lane *lane, *next;

	HASH_ITER (hh, sink->lanes, lane, next) {
		HASH_DEL(sink->lanes, lane);
		free(lane);
	}
	blktrace_files_destroy(sink->files);
	out_deinit(&sink->out);
	free(sink);
}

static const struct sink_ops blktrace_ops = {
	.event = sink_blktrace_event,
	.left_out = sink_blktrace_left_out,
	.flush = sink_blktrace_flush,
	.finish = sink_blktrace_finish,
	.destroy = sink_blktrace_destroy,
};

int blktrace_stream_create(int fd, int protocol, struct blktrace_counts *counts, struct sink **ret)
{
	_cleanup_free_ struct blktrace_sink *sink = calloc(1, sizeof(*sink));

	if (!sink || out_init(&sink->out, fd, OUT_BUFFER_BYTES) < 0)
		return -ENOMEM;
	sink->sink.ops = &blktrace_ops;
	sink->protocol = protocol;
	sink->counts = counts;
	*ret = &take_ptr(sink)->sink;
	return 0;
}

int blktrace_split_create(struct blktrace_files *adopted, int protocol, blktrace_device_name name,
			  void *context, struct blktrace_counts *counts, struct sink **ret)
{
	struct blktrace_sink *sink = calloc(1, sizeof(*sink));

	if (!sink) {
		blktrace_files_destroy(adopted);
		return -ENOMEM;
	}
	sink->sink.ops = &blktrace_ops;
	sink->files = adopted;
	sink->protocol = protocol;
	sink->name = name;
	sink->context = context;
	sink->counts = counts;
	*ret = &sink->sink;
	return 0;
}
