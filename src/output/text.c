/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "letters.h"
#include "text_stats.h"

struct text_sink {
	struct sink sink;
	struct text_options options;
	const struct scene *scene;
	struct out out;
	struct text_track *track; /* NULL without -t */
	struct text_stats *stats;
	uint64_t start_ns;
};

static int text_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct text_sink *text = (struct text_sink *)sink;
	const struct blkbox_event *event = &item->event;
	const char *letters = action_letters(event);
	char number[20];
	struct text_line line = {
		.event = event,
		.scene = text->scene,
		.tag = item->tag,
		.act = letters ? letters : number,
		.time = {.elapsed_ns = TRACK_NONE},
	};
	int r = 0;

	if (blkbox_event_is_note(event) && event->action != BLKBOX_NOTE_MESSAGE)
		return 0;
	if (text->start_ns == SCENE_FROM_FIRST)
		text->start_ns = event->time_ns;
	line.since_ns = (int64_t)(event->time_ns - text->start_ns);
	if (!letters)
		snprintf(number, sizeof(number), "%u", event->action);
	if (text->track)
		r = text_track_event(text->track, item->tag, event, &line.time);
	if (r == 0)
		r = text_stats_event(text->stats, item->tag, event, &line.time);
	if (r < 0)
		return why_set(why, r, "no memory");
	if (!text->options.formats || blkbox_event_is_note(event) ||
	    !text_formats_print(text->options.formats, &line, &text->out))
		text_line_print(&text->out, &line, item->late);
	return text->out.error ? why_errno(why, text->out.error, "cannot write the text") : 0;
}

static int text_left_out(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct text_sink *text = (struct text_sink *)sink;
	struct track_time ignored;
	int r = text_stats_left_out(text->stats, item->tag, &item->event);

	/* The stages of an I/O begin with events that need not be shown. */
	if (r == 0 && text->track)
		r = text_track_event(text->track, item->tag, &item->event, &ignored);
	return r < 0 ? why_set(why, r, "no memory") : 0;
}

static int text_flush(struct sink *sink, struct why *why)
{
	int r = out_flush(&((struct text_sink *)sink)->out);

	return r < 0 ? why_errno(why, r, "cannot write the text") : 0;
}

static int text_finish(struct sink *sink, struct why *why)
{
	struct text_sink *text = (struct text_sink *)sink;

	if (text->options.per_process)
		text_stats_print_processes(text->stats, &text->out);
	if (text->options.summary)
		text_stats_print_devices(text->stats, &text->out);
	return text_flush(sink, why);
}

static void text_destroy(struct sink *sink)
{
	struct text_sink *text = (struct text_sink *)sink;

	text_track_destroy(text->track);
	text_stats_destroy(text->stats);
	out_deinit(&text->out);
	free(text);
}

static const struct sink_ops text_ops = {
	.event = text_event,
	.left_out = text_left_out,
	.flush = text_flush,
	.finish = text_finish,
	.destroy = text_destroy,
};

int text_sink_create(int fd, const struct text_options *options, const struct scene *scene,
		     struct sink **ret)
{
	struct text_stats_options stats = {options->per_process, options->by_name};
	struct text_sink *text = calloc(1, sizeof(*text));

	if (!text)
		return -ENOMEM;
	text->sink.ops = &text_ops;
	text->options = *options;
	text->scene = scene;
	text->start_ns = scene->start_ns;
	if (out_init(&text->out, fd, OUT_BUFFER_BYTES) < 0 ||
	    text_stats_create(&stats, scene, &text->stats) < 0 ||
	    (options->track && text_track_create(&text->track) < 0)) {
		text_destroy(&text->sink);
		return -ENOMEM;
	}
	*ret = &text->sink;
	return 0;
}
