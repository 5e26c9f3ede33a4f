/* SPDX-License-Identifier: MIT */
#include "filter_args.h"

#include "grow.h"
#include "mask.h"
#include "number.h"

#include <string.h>

enum {
	KEY_DEVICE = 0x200,
	KEY_CPU,
	KEY_PID,
	KEY_PROCESS,
	KEY_ACTION,
	KEY_OPERATION,
	KEY_SECTORS,
	KEY_SIZE,
	KEY_FROM,
	KEY_TO,
	KEY_NO_OWN,
};

/* clang-format off */
/* @action_flags: hidden where whole I/Os are asked for. */
#define FILTER_OPTIONS(action_flags) \
	{NULL, 0, NULL, 0, "Which events (lists are separated by commas):", 10}, \
	{"act-mask", 'a', "CATEGORY", 0, "Only events of these categories, as blktrace calls them", 10}, \
	{"set-mask", 'A', "HEX", 0, "The same as a hexadecimal mask", 10}, \
	{"device", KEY_DEVICE, "DEVICE", 0, "Of these devices: sda, or 8:0", 10}, \
	{"cpu", KEY_CPU, "CPU", 0, "Of these CPUs: 0,4-7", 10}, \
	{"pid", KEY_PID, "PID", 0, "Of these threads", 10}, \
	{"process", KEY_PROCESS, "NAME", 0, "Of processes of these names; * and ? as in a shell", 10}, \
	{"action", KEY_ACTION, "ACTION", action_flags, \
	 "Of these actions: Q,D,C or queue,issue,complete", 10}, \
	{"operation", KEY_OPERATION, "OP", 0, \
	 "Of these operations: read, write, discard, flush, passthrough, write-zeroes, " \
	 "zone-append, zone-reset ...", 10}, \
	{"sectors", KEY_SECTORS, "A-B", 0, "That touch sectors A to B", 10}, \
	{"size", KEY_SIZE, "A-B", 0, "Of A to B bytes; with k, M, G; A- and -B too", 10}, \
	{"from", KEY_FROM, "TIME", 0, \
	 "Not before TIME: seconds from the start, or 2026-11-30T15:48:36Z", 10}, \
	{"to", KEY_TO, "TIME", 0, "Not after TIME", 10}, \
	{"no-own", KEY_NO_OWN, NULL, 0, \
	 "Not what the recorder's own threads did, where its log is on the recorded disk", 10}, \
	{"no-msgs", 'M', NULL, 0, "No messages (notes of I/O schedulers may be most of a trace)", 10}, \
	{"stopwatch", 'w', "[FROM:]TO", 0, "From and to in seconds, as in blkparse", 10}
/* clang-format on */

static const struct argp_option options[] = {FILTER_OPTIONS(0), {0}};
static const struct argp_option io_options[] = {FILTER_OPTIONS(OPTION_HIDDEN), {0}};

/* Calls @one for each piece of a list. */
static int for_each_piece(const char *list, struct filter *filter,
			  int (*one)(struct filter *filter, const char *piece, struct why *why),
			  struct why *why)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *piece;
	int r = copy ? 0 : -ENOMEM;

	while (r == 0 && (piece = strsep(&rest, ",")))
		r = *piece ? one(filter, piece, why)
			   : why_set(why, -EINVAL, "an empty piece in '%s'", list);
	return r;
}

static int add_text(char ***texts, size_t *n, const char *text)
{
	char **grown = grow_list(*texts, *n, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*texts = grown;
	grown[*n] = strdup(text);
	return grown[*n] ? (++*n, 0) : -ENOMEM;
}

static int add_number(uint32_t **numbers, size_t *n, uint32_t number)
{
	uint32_t *grown = grow_list(*numbers, *n, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*numbers = grown;
	grown[(*n)++] = number;
	return 0;
}

static int add_device(struct filter *filter, const char *piece, struct why *why)
{
	(void)why;
	return add_text(&filter->devices, &filter->n_devices, piece);
}

static int add_comm(struct filter *filter, const char *piece, struct why *why)
{
	(void)why;
	return add_text(&filter->comms, &filter->n_comms, piece);
}

static int add_cpu(struct filter *filter, const char *piece, struct why *why)
{
	_cleanup_free_ char *first = strdup(piece);
	char *dash = first ? strchr(first, '-') : NULL;
	uint64_t a, b;
	int r = first ? 0 : -ENOMEM;

	if (dash)
		*dash = '\0';
	if (r == 0)
		r = count_parse(first, &a, why);
	if (r == 0)
		r = count_parse(dash ? dash + 1 : first, &b, why);
	if (r == 0 && (a > b || b > 65535))
		r = why_set(why, -EINVAL, "'%s' is no range of CPUs", piece);
	for (; r == 0 && a <= b; a++)
		r = add_number(&filter->cpus, &filter->n_cpus, (uint32_t)a);
	return r;
}

static int add_pid(struct filter *filter, const char *piece, struct why *why)
{
	uint64_t pid;
	int r = count_parse(piece, &pid, why);

	if (r == 0 && pid > UINT32_MAX)
		r = why_set(why, -ERANGE, "'%s' is too large for a thread id", piece);
	return r < 0 ? r : add_number(&filter->pids, &filter->n_pids, (uint32_t)pid);
}

static int add_action(struct filter *filter, const char *piece, struct why *why)
{
	struct action_key *grown =
		reallocarray(filter->actions, filter->n_actions + 1, sizeof(*grown));
	uint64_t number;

	if (!grown)
		return -ENOMEM;
	filter->actions = grown;
	if (!action_find(piece, &grown[filter->n_actions])) {
		if (count_parse(piece, &number, NULL) < 0 || number > UINT16_MAX)
			return why_set(why, -EINVAL,
				       "there is no action '%s'; 'blkbox dump --legend' lists them",
				       piece);
		grown[filter->n_actions] = (struct action_key){.action = (uint16_t)number};
	}
	filter->n_actions++;
	return 0;
}

static int add_operation(struct filter *filter, const char *piece, struct why *why)
{
	for (unsigned i = 0; i < OPERATION_COUNT; i++) {
		if (!strcmp(piece, operation_name(i))) {
			filter->operations |= 1u << i;
			return 0;
		}
	}
	return why_set(why, -EINVAL, "there is no operation '%s'", piece);
}

static int set_size(struct filter *filter, const char *text, struct why *why)
{
	_cleanup_free_ char *first = strdup(text);
	char *dash = first ? strchr(first, '-') : NULL;
	int r = first ? 0 : -ENOMEM;

	filter->has_bytes = true;
	filter->min_bytes = 0;
	filter->max_bytes = UINT64_MAX;
	if (dash)
		*dash = '\0';
	if (r == 0 && !*first && (!dash || !dash[1]))
		r = why_set(why, -EINVAL, "'%s' is no range of sizes", text);
	if (r == 0 && *first)
		r = size_parse(first, 1, &filter->min_bytes, why);
	if (r == 0 && !dash)
		filter->max_bytes = filter->min_bytes;
	else if (r == 0 && dash[1])
		r = size_parse(dash + 1, 1, &filter->max_bytes, why);
	if (r == 0 && filter->min_bytes > filter->max_bytes)
		r = why_set(why, -EINVAL, "'%s' is no range of sizes", text);
	return r;
}

static int set_sectors(struct filter *filter, const char *text, struct why *why)
{
	struct sector_range range;
	int r = sector_range_parse(text, &range, why);

	if (r < 0)
		return r;
	filter->has_sectors = true;
	filter->first_sector = range.first;
	filter->last_sector = range.last;
	return 0;
}

static int set_stopwatch(struct filter *filter, const char *text, struct why *why)
{
	_cleanup_free_ char *first = strdup(text);
	char *colon = first ? strchr(first, ':') : NULL;
	int r = first ? 0 : -ENOMEM;

	if (colon) {
		*colon = '\0';
		r = moment_parse(first, &filter->from, why);
	}
	if (r == 0)
		r = moment_parse(colon ? colon + 1 : first, &filter->to, why);
	if (r == 0 && colon && filter->to.ns <= filter->from.ns)
		r = why_set(why, -EINVAL, "'%s' is no span of time", text);
	return r;
}

static int add_mask(struct filter *filter, int key, const char *text, struct why *why)
{
	uint32_t mask;
	int r = key == 'A' ? mask_parse_hex(text, &mask, why) : mask_parse_names(text, &mask, why);

	if (r == 0)
		filter->mask |= mask;
	return r;
}

static int take_option(struct filter *filter, int key, const char *argument, struct why *why)
{
	switch (key) {
	case 'a':
	case 'A':
		return add_mask(filter, key, argument, why);
	case 'M':
		filter->no_messages = true;
		return 0;
	case 'w':
		return set_stopwatch(filter, argument, why);
	case KEY_NO_OWN:
		filter->no_own = true;
		return 0;
	case KEY_DEVICE:
		return for_each_piece(argument, filter, add_device, why);
	case KEY_CPU:
		return for_each_piece(argument, filter, add_cpu, why);
	case KEY_PID:
		return for_each_piece(argument, filter, add_pid, why);
	case KEY_PROCESS:
		return for_each_piece(argument, filter, add_comm, why);
	case KEY_ACTION:
		return for_each_piece(argument, filter, add_action, why);
	case KEY_OPERATION:
		return for_each_piece(argument, filter, add_operation, why);
	case KEY_SECTORS:
		return set_sectors(filter, argument, why);
	case KEY_SIZE:
		return set_size(filter, argument, why);
	case KEY_FROM:
		return moment_parse(argument, &filter->from, why);
	case KEY_TO:
		return moment_parse(argument, &filter->to, why);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *option_name(int key)
{
	for (size_t i = 0; options[i].name || options[i].doc; i++) {
		if (options[i].name && options[i].key == key)
			return options[i].name;
	}
	return "?";
}

/* What ends before it begins is a slip, whichever options it comes from. */
static void check_span(const struct filter *filter, const struct argp_state *state)
{
	if (filter->from.is_set && filter->to.is_set &&
	    filter->from.is_wall == filter->to.is_wall && filter->to.ns < filter->from.ns)
		argp_error(state, "--to is before --from");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct why why = {""};
	int r;

	if (key == ARGP_KEY_END)
		check_span(state->input, state);
	r = take_option(state->input, key, argument, &why);

	if (r == ARGP_ERR_UNKNOWN)
		return r;
	if (r < 0)
		argp_error(state, "--%s: %s", option_name(key),
			   *why.text ? why.text : strerror(-r));
	return 0;
}

const struct argp filter_argp = {.options = options, .parser = parse_option};
const struct argp filter_io_argp = {.options = io_options, .parser = parse_option};
