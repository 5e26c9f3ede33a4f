/* SPDX-License-Identifier: MIT */
#include "text_format.h"

#include "letters.h"
#include "wire.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

/* blkparse's, in one letter; then those that have two. */
static const char *const actions[] = {"A", "B", "C", "D", "F", "G",  "I",  "M",	 "P",  "Q",  "R",
				      "S", "T", "U", "W", "X", "UT", "ZP", "ZU", "ZA", "AB", "DD"};
static const char fields[] = "acCdDeEgIJLmMnNpPsStTuUVz";

enum {
	OTHERS = sizeof(actions) / sizeof(actions[0]),
	N_FORMATS,
	WIDTH_MAX = 1000
};

/* A piece of a format: literal text, or a field. */
struct piece {
	char *text; /* NULL: a field */
	char field;
	bool left;
	int width; /* -1 = not given */
};

struct format {
	struct piece *pieces;
	size_t n;
	bool is_set;
	bool is_own; /* by -F */
};

struct text_formats {
	struct format formats[N_FORMATS]; /* in the order of @actions; then for all others */
};

int text_formats_create(struct text_formats **ret)
{
	struct text_formats *formats = calloc(1, sizeof(*formats));

	if (!formats)
		return -ENOMEM;
	*ret = formats;
	return 0;
}

static void format_deinit(struct format *format)
{
	for (size_t i = 0; i < format->n; i++)
		free(format->pieces[i].text);
	free(format->pieces);
	*format = (struct format){0};
}

void text_formats_destroy(struct text_formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < N_FORMATS; i++)
		format_deinit(&formats->formats[i]);
	free(formats);
}

static int add_piece(struct format *format, const struct piece *piece)
{
	struct piece *pieces = reallocarray(format->pieces, format->n + 1, sizeof(*pieces));

	if (!pieces)
		return -ENOMEM;
	format->pieces = pieces;
	pieces[format->n++] = *piece;
	return 0;
}

static int add_literal(struct format *format, char c)
{
	struct piece *last = format->n ? &format->pieces[format->n - 1] : NULL;
	struct piece piece = {0};
	size_t n;
	char *text;

	if (!last || !last->text) {
		piece.text = strndup(&c, 1);
		return piece.text ? add_piece(format, &piece) : -ENOMEM;
	}
	n = strlen(last->text);
	text = realloc(last->text, n + 2);
	if (!text)
		return -ENOMEM;
	text[n] = c;
	text[n + 1] = '\0';
	last->text = text;
	return 0;
}

/* Behind the '%'. Moves *@at behind the field. */
static int parse_field(struct format *format, const char **at, struct why *why)
{
	struct piece piece = {.width = -1};
	const char *start = *at, *p = start;

	if (!*p)
		return add_literal(format, '%');
	if (*p == '-') {
		piece.left = true;
		p++;
	}
	if (isdigit((unsigned char)*p))
		piece.width = 0;
	for (; isdigit((unsigned char)*p); p++) {
		piece.width = piece.width * 10 + (*p - '0');
		if (piece.width > WIDTH_MAX)
			return why_set(why, -EINVAL, "a field wider than %d in the format",
				       WIDTH_MAX);
	}
	if (!*p)
		return why_set(why, -EINVAL, "the format ends within a field");
	if (*p != '%' && !strchr(fields, *p))
		return why_set(why, -EINVAL, "there is no field %%%c; there are %s", *p, fields);
	*at = p + 1;
	if (*p == '%' && p == start)
		return add_literal(format, '%');
	piece.field = *p;
	return add_piece(format, &piece);
}

static int parse_escape(struct format *format, const char **at, struct why *why)
{
	static const char from[] = "bnrt\\", to[] = "\b\n\r\t\\";
	const char *found = **at ? strchr(from, **at) : NULL;

	if (!found)
		return why_set(why, -EINVAL, "\\%s in the format: there are \\b \\n \\r \\t \\\\",
			       **at ? (char[]){**at, '\0'} : "");
	++*at;
	return add_literal(format, to[found - from]);
}

static int parse(struct format *format, const char *text, struct why *why)
{
	int r = 0;

	format_deinit(format);
	format->is_set = true;
	while (*text && r == 0) {
		char c = *text++;

		if (c == '%')
			r = parse_field(format, &text, why);
		else if (c == '\\')
			r = parse_escape(format, &text, why);
		else
			r = add_literal(format, c);
	}
	return r == -ENOMEM ? why_set(why, r, "no memory") : r;
}

int text_formats_all(struct text_formats *formats, const char *format, struct why *why)
{
	for (size_t i = 0; i < N_FORMATS; i++) {
		int r = formats->formats[i].is_set ? 0 : parse(&formats->formats[i], format, why);

		if (r < 0)
			return r;
	}
	return 0;
}

/* OTHERS: there is no such action. */
static size_t place_of(const char *letters)
{
	for (size_t i = 0; i < OTHERS; i++) {
		if (actions[i][0] == letters[0] && !strcmp(actions[i], letters))
			return i;
	}
	return OTHERS;
}

/* By letters or name. */
static size_t find_action(const char *text)
{
	struct action_key key = {0};
	struct blkbox_event event = {.protocol = 2};

	if (place_of(text) != OTHERS || !action_find(text, &key) || key.note)
		return place_of(text);
	event.action = key.action;
	event.categories = key.zone_append ? 0 : BLKBOX_CAT_COMPLETE;
	return place_of(action_letters(&event));
}

int text_formats_one(struct text_formats *formats, const char *option, struct why *why)
{
	size_t n = strcspn(option, ",");
	_cleanup_free_ char *name = strndup(option, n);
	size_t action = name && option[n] ? find_action(name) : OTHERS;
	struct format *format;

	if (action == OTHERS)
		return why_set(why, -EINVAL,
			       "'%s' is no format for an action: ACTION,FORMAT with an action's "
			       "letters or name, as in --legend (messages have lines of their own)",
			       option);
	format = &formats->formats[action];
	if (parse(format, option + n + 1, why) < 0)
		return -EINVAL;
	format->is_own = true;
	return 0;
}

bool text_formats_need_wall(const struct text_formats *formats)
{
	for (size_t i = 0; i < N_FORMATS; i++) {
		const struct format *format = &formats->formats[i];

		for (size_t p = 0; p < format->n; p++) {
			if (!format->pieces[p].text && strchr("IJz", format->pieces[p].field))
				return true;
		}
	}
	return false;
}

static const struct format *choose(const struct text_formats *formats, const char *act)
{
	size_t action = place_of(act);

	if (!strcmp(act, "UT") && !formats->formats[action].is_own) {
		const struct format *timer = &formats->formats[place_of("T")];

		/* blkparse prints UT by U's format. */
		return timer->is_own ? timer : &formats->formats[place_of("U")];
	}
	return &formats->formats[action];
}

static void put_padded(struct out *out, const struct piece *piece, const char *text, size_t n)
{
	size_t width = piece->width > 0 ? (size_t)piece->width : 0;
	size_t pad = width > n ? width - n : 0;
	char *room = out_room(out, n + pad);

	if (!piece->left)
		memset(room, ' ', pad);
	memcpy(room + (piece->left ? 0 : pad), text, n);
	if (piece->left)
		memset(room + n, ' ', pad);
	out_commit(out, n + pad);
}

static size_t wall_text(const struct text_line *line, char field, char *text, size_t size)
{
	uint64_t real_ns;
	struct tm tm;
	time_t seconds;
	unsigned ns;
	int n;

	if (!line->scene->has_real)
		return (size_t)snprintf(text, size, "-");
	real_ns = scene_real_ns(line->scene, line->tag, line->event->time_ns);
	seconds = (time_t)(real_ns / 1000000000);
	ns = (unsigned)(real_ns % 1000000000);
	if (field == 'I')
		gmtime_r(&seconds, &tm);
	else
		localtime_r(&seconds, &tm);
	if (field == 'z') {
		n = snprintf(text, size, "%02d:%02d:%02d.%06u", tm.tm_hour, tm.tm_min, tm.tm_sec,
			     ns / 1000);
		return (size_t)n;
	}
	n = snprintf(text, size, "%04d-%02d-%02dT%02d:%02d:%02d.%09u", tm.tm_year + 1900,
		     tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ns);
	if (field == 'I')
		return (size_t)n + (size_t)snprintf(text + n, size - (size_t)n, "Z");
	return (size_t)n + (size_t)snprintf(text + n, size - (size_t)n, "%c%02ld:%02ld",
					    tm.tm_gmtoff < 0 ? '-' : '+', labs(tm.tm_gmtoff) / 3600,
					    labs(tm.tm_gmtoff) / 60 % 60);
}

static size_t error_text(int error, char *text, size_t size)
{
	const char *name = error < 0 ? strerrorname_np(-error) : NULL;

	return name ? (size_t)snprintf(text, size, "%s", name)
		    : (size_t)snprintf(text, size, "%d", error);
}

/* Fields that are one number. */
static bool number_of(const struct text_line *line, char field, uint64_t *ret)
{
	const struct blkbox_event *event = line->event;

	switch (field) {
	case 'c':
		*ret = event->cpu;
		return true;
	case 'g':
		*ret = event->cgroup_id;
		return true;
	case 'm':
		*ret = blkbox_device_minor(event->device);
		return true;
	case 'M':
		*ret = blkbox_device_major(event->device);
		return true;
	case 'n':
		*ret = event->bytes / 512;
		return true;
	case 'N':
		*ret = event->bytes;
		return true;
	case 'p':
		*ret = event->pid;
		return true;
	case 's':
		*ret = event->sequence;
		return true;
	case 'S':
		*ret = event->sector;
		return true;
	default:
		return false;
	}
}

static size_t payload_number(const struct blkbox_event *event, char *text)
{
	uint64_t number;

	if ((event->action != BLKBOX_UNPLUG && event->action != BLKBOX_UNPLUG_TIMER &&
	     event->action != BLKBOX_SPLIT) ||
	    !wire_pdu_u64(event, &number))
		number = 0;
	return format_u64(text, number);
}

static size_t text_of(const struct text_line *line, char field, char *text, size_t size)
{
	const struct blkbox_event *event = line->event;

	switch (field) {
	case '%':
		return (size_t)snprintf(text, size, "%%");
	case 'a':
		return (size_t)snprintf(text, size, "%s", line->act);
	case 'C':
		return text_comm(line, text);
	case 'd':
		return rwbs_format(event, text);
	case 'e':
		return (size_t)snprintf(text, size, "%d", event->error);
	case 'E':
		return error_text(event->error, text, size);
	case 'L':
		rwbs_long(event, text);
		return strlen(text);
	case 'T':
		return (size_t)snprintf(text, size, "%s%lld", line->since_ns < 0 ? "-" : "",
					llabs(line->since_ns) / 1000000000);
	case 'u':
		if (line->time.elapsed_ns == TRACK_NONE)
			return (size_t)snprintf(text, size, "-");
		return format_u64(text, line->time.elapsed_ns / 1000);
	case 'U':
		return payload_number(event, text);
	case 'V':
		return (size_t)snprintf(text, size, "%s",
					line->scene->device_name(line->scene->context, line->tag,
								 event->device));
	default:
		return wall_text(line, field, text, size);
	}
}

static void print_field(const struct text_line *line, const struct piece *piece, struct out *out)
{
	const struct blkbox_event *event = line->event;
	char text[RWBS_LONG_MAX + TEXT_COMM_MAX];
	uint64_t number;

	if (piece->field == 'D') { /* width ignored, as in blkparse */
		out_printf(out, "%3u,%-3u", blkbox_device_major(event->device),
			   blkbox_device_minor(event->device));
	} else if (piece->field == 't') { /* leading zeroes, never blanks */
		out_printf(out, "%0*u", piece->width < 0 ? 9 : piece->width,
			   (unsigned)(llabs(line->since_ns) % 1000000000));
	} else if (piece->field == 'P') {
		if ((event->categories & BLKBOX_CAT_PC) || event->action >= BLKBOX_DRV_DATA)
			text_hex(out, event->pdu, event->pdu_bytes);
	} else if (number_of(line, piece->field, &number)) {
		put_padded(out, piece, text, format_u64(text, number));
	} else {
		put_padded(out, piece, text, text_of(line, piece->field, text, sizeof(text)));
	}
}

bool text_formats_print(const struct text_formats *formats, const struct text_line *line,
			struct out *out)
{
	const struct format *format = choose(formats, line->act);

	if (!format->is_set)
		return false;
	for (size_t i = 0; i < format->n; i++) {
		if (format->pieces[i].text)
			out_text(out, format->pieces[i].text);
		else
			print_field(line, &format->pieces[i], out);
	}
	return true;
}

const char text_format_legend[] =
	"Fields of -f and -F: %[-][WIDTH]LETTER; \\n ends a line\n"
	"  a action   d RWBS   L RWBS in words   D major,minor   M major   m minor   V device "
	"name\n"
	"  c CPU      s sequence   T seconds   t nanoseconds of the second   z wall clock, local\n"
	"  I wall clock, ISO 8601 UTC   J the same, local time   u microseconds of the stage (-t)\n"
	"  S sector   n sectors    N bytes     e error, negative errno   E its name\n"
	"  p thread   C process    g cgroup id   U number in the payload   P payload, "
	"hexadecimal\n";
