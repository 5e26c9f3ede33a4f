/* SPDX-License-Identifier: MIT */
#include "letters.h"

#include <stdio.h>
#include <string.h>

struct action {
	const char *letters;
	const char *name;
};

static const struct action actions[] = {
	[BLKBOX_QUEUE] = {"Q", "queue"},
	[BLKBOX_BACKMERGE] = {"M", "backmerge"},
	[BLKBOX_FRONTMERGE] = {"F", "frontmerge"},
	[BLKBOX_GETRQ] = {"G", "getrq"},
	[BLKBOX_SLEEPRQ] = {"S", "sleeprq"},
	[BLKBOX_REQUEUE] = {"R", "requeue"},
	[BLKBOX_ISSUE] = {"D", "issue"},
	[BLKBOX_COMPLETE] = {"C", "complete"},
	[BLKBOX_PLUG] = {"P", "plug"},
	[BLKBOX_UNPLUG] = {"U", "unplug"},
	[BLKBOX_UNPLUG_TIMER] = {"UT", "unplug-timer"},
	[BLKBOX_INSERT] = {"I", "insert"},
	[BLKBOX_SPLIT] = {"X", "split"},
	[BLKBOX_BOUNCE] = {"B", "bounce"},
	[BLKBOX_REMAP] = {"A", "remap"},
	[BLKBOX_ABORT] = {"AB", "abort"},
	[BLKBOX_DRV_DATA] = {"DD", "drv-data"},
	[BLKBOX_ZONE_PLUG] = {"ZP", "zone-plug"},
	[BLKBOX_ZONE_UNPLUG] = {"ZU", "zone-unplug"},
};

static const struct action notes[] = {
	[BLKBOX_NOTE_PROCESS] = {"n", "process-note"},
	[BLKBOX_NOTE_TIMESTAMP] = {"t", "timestamp-note"},
	[BLKBOX_NOTE_MESSAGE] = {"m", "message"},
};

static const struct action zone_append = {"ZA", "zone-append-sector"};

enum {
	N_ACTIONS = sizeof(actions) / sizeof(actions[0]),
	N_NOTES = sizeof(notes) / sizeof(notes[0]),
};

static const struct action *find_action(const struct blkbox_event *event)
{
	if (blkbox_event_is_note(event))
		return event->action < N_NOTES ? &notes[event->action] : NULL;
	if (event_is_zone_append_sector(event))
		return &zone_append;
	if (event->action >= N_ACTIONS || !actions[event->action].letters)
		return NULL;
	return &actions[event->action];
}

const char *action_letters(const struct blkbox_event *event)
{
	const struct action *action = find_action(event);

	return action ? action->letters : NULL;
}

const char *action_name(const struct blkbox_event *event)
{
	const struct action *action = find_action(event);

	return action ? action->name : NULL;
}

static bool is_called(const struct action *action, const char *text)
{
	return action->letters && (!strcmp(action->letters, text) || !strcmp(action->name, text));
}

bool action_find(const char *text, struct action_key *ret)
{
	for (uint16_t i = 0; i < N_ACTIONS; i++) {
		if (is_called(&actions[i], text)) {
			*ret = (struct action_key){.action = i};
			return true;
		}
	}
	for (uint16_t i = 0; i < N_NOTES; i++) {
		if (is_called(&notes[i], text)) {
			*ret = (struct action_key){.action = i, .note = true};
			return true;
		}
	}
	if (!is_called(&zone_append, text))
		return false;
	*ret = (struct action_key){.action = BLKBOX_COMPLETE, .zone_append = true};
	return true;
}

bool action_matches(const struct action_key *key, const struct blkbox_event *event)
{
	return event->action == key->action && blkbox_event_is_note(event) == key->note &&
	       (find_action(event) == &zone_append) == key->zone_append;
}

static const char *const operations[] = {
	[OPERATION_NONE] = "none",
	[OPERATION_READ] = "read",
	[OPERATION_WRITE] = "write",
	[OPERATION_DISCARD] = "discard",
	[OPERATION_FLUSH] = "flush",
	[OPERATION_PASSTHROUGH] = "passthrough",
	[OPERATION_WRITE_ZEROES] = "write-zeroes",
	[OPERATION_ZONE_APPEND] = "zone-append",
	[OPERATION_ZONE_RESET] = "zone-reset",
	[OPERATION_ZONE_RESET_ALL] = "zone-reset-all",
	[OPERATION_ZONE_FINISH] = "zone-finish",
	[OPERATION_ZONE_OPEN] = "zone-open",
	[OPERATION_ZONE_CLOSE] = "zone-close",
};

const char *operation_name(enum operation operation)
{
	return operations[operation];
}

/* What kernels may put behind these is no operation that we know. */
enum {
	ZONE_OPERATIONS = BLKBOX_CAT_ZONE_APPEND | BLKBOX_CAT_ZONE_RESET |
			  BLKBOX_CAT_ZONE_RESET_ALL | BLKBOX_CAT_ZONE_FINISH |
			  BLKBOX_CAT_ZONE_OPEN | BLKBOX_CAT_ZONE_CLOSE | BLKBOX_CAT_WRITE_ZEROES
};

static enum operation zone_operation(uint32_t categories)
{
	if (categories & BLKBOX_CAT_ZONE_APPEND)
		return OPERATION_ZONE_APPEND;
	if (categories & BLKBOX_CAT_ZONE_RESET_ALL)
		return OPERATION_ZONE_RESET_ALL;
	if (categories & BLKBOX_CAT_ZONE_RESET)
		return OPERATION_ZONE_RESET;
	if (categories & BLKBOX_CAT_ZONE_FINISH)
		return OPERATION_ZONE_FINISH;
	if (categories & BLKBOX_CAT_ZONE_OPEN)
		return OPERATION_ZONE_OPEN;
	if (categories & BLKBOX_CAT_ZONE_CLOSE)
		return OPERATION_ZONE_CLOSE;
	return OPERATION_WRITE_ZEROES;
}

enum operation operation_of(const struct blkbox_event *event)
{
	uint32_t categories = event->categories;

	if (categories & BLKBOX_CAT_NOTIFY)
		return OPERATION_NONE;
	if (categories & BLKBOX_CAT_PC)
		return OPERATION_PASSTHROUGH;
	if (categories & ZONE_OPERATIONS)
		return zone_operation(categories);
	if (categories & BLKBOX_CAT_DISCARD)
		return OPERATION_DISCARD;
	if ((categories & BLKBOX_CAT_FLUSH) && !event->bytes)
		return OPERATION_FLUSH;
	if (categories & BLKBOX_CAT_WRITE)
		return OPERATION_WRITE;
	return event->bytes ? OPERATION_READ : OPERATION_NONE;
}

static const char *operation_letters(const struct blkbox_event *event)
{
	uint32_t categories = event->categories;

	if (categories & ZONE_OPERATIONS) {
		static const char *const letters[] = {
			[OPERATION_WRITE_ZEROES] = "WZ", [OPERATION_ZONE_APPEND] = "ZA",
			[OPERATION_ZONE_RESET] = "ZR",	 [OPERATION_ZONE_RESET_ALL] = "ZRA",
			[OPERATION_ZONE_FINISH] = "ZF",	 [OPERATION_ZONE_OPEN] = "ZO",
			[OPERATION_ZONE_CLOSE] = "ZC",
		};

		return letters[zone_operation(categories)];
	}
	if (categories & BLKBOX_CAT_DISCARD)
		return "D";
	if (categories & BLKBOX_CAT_WRITE)
		return "W";
	return event->bytes ? "R" : "N";
}

size_t rwbs_format(const struct blkbox_event *event, char ret[static RWBS_MAX])
{
	uint32_t categories = event->categories;
	size_t n = 0;

	if (categories & BLKBOX_CAT_FLUSH)
		ret[n++] = 'F';
	for (const char *letter = operation_letters(event); *letter; letter++)
		ret[n++] = *letter;
	if (categories & BLKBOX_CAT_FUA)
		ret[n++] = 'F';
	if (categories & BLKBOX_CAT_AHEAD)
		ret[n++] = 'A';
	if (categories & BLKBOX_CAT_SYNC)
		ret[n++] = 'S';
	if (categories & BLKBOX_CAT_META)
		ret[n++] = 'M';
	ret[n] = '\0';
	return n;
}

void rwbs_long(const struct blkbox_event *event, char ret[static RWBS_LONG_MAX])
{
	enum operation operation = operation_of(event);
	uint32_t c = event->categories;
	bool preflush = (c & BLKBOX_CAT_FLUSH) && operation != OPERATION_FLUSH;

	snprintf(ret, RWBS_LONG_MAX, "%s%s%s%s%s%s", preflush ? "preflush," : "",
		 operation_name(operation), c & BLKBOX_CAT_FUA ? ",fua" : "",
		 c & BLKBOX_CAT_AHEAD ? ",ahead" : "", c & BLKBOX_CAT_SYNC ? ",sync" : "",
		 c & BLKBOX_CAT_META ? ",meta" : "");
}

const char letters_legend[] =
	"Actions\n"
	"  Q   queue         an I/O (bio) was handed to the block layer\n"
	"  G   getrq         a request was allocated for it\n"
	"  S   sleeprq       waiting for a free request (old kernels)\n"
	"  M   backmerge     merged behind another request\n"
	"  F   frontmerge    merged in front of another request\n"
	"  I   insert        put into the I/O scheduler\n"
	"  D   issue         handed to the driver\n"
	"  C   complete      done, or a part of it is; [errno], 0 = no error\n"
	"  R   requeue       given back by the driver, to be issued again\n"
	"  X   split         in two; the second part starts behind the slash\n"
	"  A   remap         to the device below; from (device) sector\n"
	"  B   bounce        copied to memory that the device can reach (old kernels)\n"
	"  P   plug          I/Os are being held back to be merged\n"
	"  U   unplug        ... and let go; the number of requests\n"
	"  UT  unplug-timer  let go because the process was scheduled away\n"
	"  ZP  zone-plug     a write was held back for the order of its zone (protocol v2)\n"
	"  ZU  zone-unplug   ... and let go (protocol v2)\n"
	"  ZA  zone-append-sector  where a zone append was written (protocol v2)\n"
	"  AB  abort         (old kernels)\n"
	"  DD  drv-data      data of a driver (zfcp)\n"
	"  m   message       a note of the kernel's or a user's\n"
	"  other actions are shown by their number\n"
	"\n"
	"Operation and flags (RWBS), in this order\n"
	"  F   preflush: the device's cache is flushed first; FN alone is a flush\n"
	"  R   read\n"
	"  W   write\n"
	"  D   discard (also secure erase)\n"
	"  N   none of these: no data\n"
	"  WZ  write zeroes (protocol v2; in v1 it looks like W)\n"
	"  ZA  zone append; ZR reset; ZRA reset all; ZF finish; ZO open; ZC close (protocol v2)\n"
	"  F   behind the operation: FUA, through the device's cache\n"
	"  A   read ahead\n"
	"  S   synchronous\n"
	"  M   metadata\n"
	"\n"
	"A line\n"
	"  device  CPU  sequence  seconds  thread  action  RWBS  sector + sectors [process]\n"
	"  Sectors are 512 bytes. A completion ends in [errno] instead of a process. A "
	"passthrough\n"
	"  command shows bytes and its command block instead of sectors. With -t times in\n"
	"  nanoseconds are in parentheses: allocation to insert (I), insert to issue (D), issue "
	"to\n"
	"  complete (C). <...> is a process that never told its name. (late): in a running trace, "
	"an\n"
	"  event that came behind newer ones.\n";
