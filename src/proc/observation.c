/* SPDX-License-Identifier: MIT */
#include "observation.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

const char *verdict_name(enum verdict_state state)
{
	static const char *const verdict_names[] = {
		[VERDICT_MET] = "met",
		[VERDICT_NOT_MET] = "not met",
		[VERDICT_UNDECIDABLE] = "not decidable here",
	};

	return verdict_names[state];
}

const char *relation_name(enum relation relation)
{
	static const char *const relation_names[] = {
		[EXPECT_EQUAL] = "equal",
		[EXPECT_AT_LEAST] = "at least",
		[EXPECT_AT_MOST] = "at most",
	};

	return relation_names[relation];
}

static struct item *add_item(struct observation *observation, const char *key, enum item_kind kind)
{
	struct item *item = &observation->items[observation->n_items++];

	assert(observation->n_items <= OBSERVATION_ITEMS);
	*item = (struct item){.key = key, .kind = kind};
	return item;
}

void observe_measure(struct observation *observation, const char *key,
		     const struct io_counters *before, const struct io_counters *after,
		     const struct io_counters *delta)
{
	struct item *item = add_item(observation, key, ITEM_MEASURE);

	item->before = *before;
	item->after = *after;
	item->delta = *delta;
}

void observe_counters(struct observation *observation, const char *key,
		      const struct io_counters *counters)
{
	add_item(observation, key, ITEM_COUNTERS)->after = *counters;
}

void observe_number(struct observation *observation, const char *key, int64_t number)
{
	add_item(observation, key, ITEM_NUMBER)->number = number;
}

void observe_bool(struct observation *observation, const char *key, bool value)
{
	add_item(observation, key, ITEM_BOOL)->number = value;
}

void observe_total(struct observation *observation, const struct io_counters *delta)
{
	for (int i = 0; i < N_IO_COUNTERS; i++)
		observation->total.value[i] += delta->value[i];
}

void observe_task(struct observation *observation, pid_t pid, const char *role)
{
	assert(observation->n_tasks < OBSERVATION_TASKS);
	observation->tasks[observation->n_tasks++] = (struct observed_task){pid, role};
}

static bool holds(enum relation relation, int64_t expected, int64_t observed)
{
	switch (relation) {
	case EXPECT_AT_LEAST:
		return observed >= expected;
	case EXPECT_AT_MOST:
		return observed <= expected;
	default:
		return observed == expected;
	}
}

void expect_figure(struct observation *observation, const char *subject, const char *counter,
		   enum relation relation, int64_t expected, int64_t observed)
{
	struct check *check = &observation->checks[observation->n_checks++];
	static const char *const words[] = {"", "at least ", "at most "};

	assert(observation->n_checks <= OBSERVATION_CHECKS);
	*check = (struct check){
		.subject = subject,
		.counter = counter,
		.relation = relation,
		.expected = expected,
		.observed = observed,
	};
	if (holds(relation, expected, observed))
		return;
	check->state = VERDICT_NOT_MET;
	snprintf(check->reason, sizeof(check->reason), "%s of the %s is %lld, not %s%lld", counter,
		 subject, (long long)observed, words[relation], (long long)expected);
}

void expect_counter(struct observation *observation, const char *subject,
		    const struct io_counters *delta, enum io_counter counter,
		    enum relation relation, uint64_t expected)
{
	expect_figure(observation, subject, io_counter_name(counter), relation, (int64_t)expected,
		      (int64_t)delta->value[counter]);
}

void expect_undecidable(struct observation *observation, const char *format, ...)
{
	struct check *check = &observation->checks[observation->n_checks - 1];
	va_list args;

	check->state = VERDICT_UNDECIDABLE;
	va_start(args, format);
	vsnprintf(check->reason, sizeof(check->reason), format, args);
	va_end(args);
}

void observation_skip(struct observation *observation, const char *format, ...)
{
	va_list args;

	observation->skipped = true;
	observation->n_items = observation->n_checks = 0;
	va_start(args, format);
	vsnprintf(observation->reason, sizeof(observation->reason), format, args);
	va_end(args);
}

static const struct check *find_check(const struct observation *observation,
				      enum verdict_state state)
{
	for (size_t i = 0; i < observation->n_checks; i++) {
		if (observation->checks[i].state == state)
			return &observation->checks[i];
	}
	return NULL;
}

enum verdict_state observation_verdict(const struct observation *observation,
				       const char **ret_reason)
{
	const struct check *check = find_check(observation, VERDICT_NOT_MET);

	if (!check)
		check = find_check(observation, VERDICT_UNDECIDABLE);
	*ret_reason = observation->skipped ? observation->reason : check ? check->reason : NULL;
	if (observation->skipped)
		return VERDICT_UNDECIDABLE;
	return check ? check->state : VERDICT_MET;
}
