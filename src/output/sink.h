/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where events go: text, tables, other tools' formats. Each kind is a struct that starts with this.
 */
#ifndef BLKBOX_OUTPUT_SINK_H
#define BLKBOX_OUTPUT_SINK_H

#include "merge.h"

struct sink;

struct sink_ops {
	/** The next event, in order of time. */
	int (*event)(struct sink *sink, const struct merge_item *item, struct why *why);
	/** An event that a filter held back. May be NULL. */
	int (*left_out)(struct sink *sink, const struct merge_item *item, struct why *why);
	/** What was given so far becomes visible (a running trace). May be NULL. */
	int (*flush)(struct sink *sink, struct why *why);
	/** No more events: footers, totals. The output gets its name. */
	int (*finish)(struct sink *sink, struct why *why);
	/** Also without finish: what was written is then taken back where that is possible. */
	void (*destroy)(struct sink *sink);
};

struct sink {
	const struct sink_ops *ops;
};

static inline int sink_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	return sink->ops->event(sink, item, why);
}

static inline int sink_left_out(struct sink *sink, const struct merge_item *item, struct why *why)
{
	return sink->ops->left_out ? sink->ops->left_out(sink, item, why) : 0;
}

static inline int sink_flush(struct sink *sink, struct why *why)
{
	return sink->ops->flush ? sink->ops->flush(sink, why) : 0;
}

static inline int sink_finish(struct sink *sink, struct why *why)
{
	return sink->ops->finish(sink, why);
}

static inline void sink_destroy(struct sink *sink)
{
	if (sink)
		sink->ops->destroy(sink);
}

DEFINE_CLEANUP(struct sink, sink_destroy);

#endif
