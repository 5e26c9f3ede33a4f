/* SPDX-License-Identifier: MIT */
/*
 * The document: keys are camelCase at the top, the kernel's names below.
 */
#include "taskio.h"

#include "clock.h"
#include "iso_time.h"
#include "json.h"

#include <string.h>

enum {
	FACTOR_DECIMALS = 4,
	VERSION_BASIC = 1,
	VERSION_EXTENDED = 2,
	MICROSECONDS = 6
};

static const char method[] =
	"Each worker process is stopped with SIGSTOP before and after a single action; another "
	"process reads its /proc/PID/io at both moments, and before it is waited for. Caches are "
	"not dropped, nothing of the system is tuned.";

static const char *const limits[] = {
	"One machine, one moment; neither performance nor durability is measured.",
	"What is cached or cancelled depends on writeback and reclaim; nothing is a result, too.",
	"ext2, ext3 and ext4 have one magic number; mount options are not looked at.",
	"Network file systems and what flash does inside are not looked at.",
};

static void write_counters(struct json *json, const char *key, const struct io_counters *counters)
{
	json_object_begin(json, key);
	for (int i = 0; i < N_IO_COUNTERS; i++)
		json_u64(json, io_counter_name((enum io_counter)i), counters->value[i]);
	json_object_end(json);
}

static void write_readings(struct json *json, const struct item *item)
{
	write_counters(json, "before", &item->before);
	write_counters(json, "after", &item->after);
	write_counters(json, "delta", &item->delta);
}

static void write_item(struct json *json, const struct item *item)
{
	switch (item->kind) {
	case ITEM_MEASURE:
		if (item->key)
			json_object_begin(json, item->key);
		write_readings(json, item);
		if (item->key)
			json_object_end(json);
		break;
	case ITEM_COUNTERS:
		write_counters(json, item->key, &item->after);
		break;
	case ITEM_NUMBER:
		json_i64(json, item->key, item->number);
		break;
	case ITEM_BOOL:
		json_bool(json, item->key, item->number);
		break;
	}
}

static void write_observation(struct json *json, const char *name,
			      const struct observation *observation)
{
	if (observation->skipped) {
		json_null(json, name);
		return;
	}
	json_object_begin(json, name);
	for (size_t i = 0; i < observation->n_items; i++)
		write_item(json, &observation->items[i]);
	json_object_end(json);
}

static void write_observations(struct json *json, const struct taskio *taskio)
{
	json_array_begin(json, "observations");
	for (size_t k = 0; k < taskio->options.repetitions; k++) {
		json_object_begin(json, NULL);
		json_u64(json, "repetition", k + 1);
		for (size_t i = 0; i < taskio->n_experiments; i++)
			write_observation(json, taskio->experiments[i]->name,
					  taskio_observation(taskio, k, i));
		json_object_end(json);
	}
	json_array_end(json);
}

static void write_check(struct json *json, const struct check *check)
{
	json_object_begin(json, NULL);
	json_string(json, "subject", check->subject);
	json_string(json, "counter", check->counter);
	json_string(json, "relation", relation_name(check->relation));
	json_i64(json, "expected", check->expected);
	json_i64(json, "observed", check->observed);
	json_string(json, "result", verdict_name(check->state));
	json_string(json, "reason", check->reason[0] ? check->reason : NULL);
	json_object_end(json);
}

static void write_result(struct json *json, const struct experiment *experiment,
			 const struct observation *observation)
{
	const char *reason;
	enum verdict_state state = observation_verdict(observation, &reason);

	json_object_begin(json, NULL);
	json_string(json, "experiment", experiment->name);
	json_u64(json, "repetition", observation->repetition);
	json_string(json, "expectation", experiment->expectation);
	json_string(json, "result", verdict_name(state));
	json_string(json, "reason", reason);
	json_array_begin(json, "checks");
	for (size_t i = 0; i < observation->n_checks; i++)
		write_check(json, &observation->checks[i]);
	json_array_end(json);
	json_object_end(json);
}

static void write_results(struct json *json, const struct taskio *taskio)
{
	json_array_begin(json, "results");
	for (size_t k = 0; k < taskio->options.repetitions; k++) {
		for (size_t i = 0; i < taskio->n_experiments; i++)
			write_result(json, taskio->experiments[i],
				     taskio_observation(taskio, k, i));
	}
	json_array_end(json);
}

static void write_environment(struct json *json, const struct environment *environment)
{
	char magic[24];

	snprintf(magic, sizeof(magic), "0x%llx",
		 (unsigned long long)environment->file_system.magic);
	json_object_begin(json, "environment");
	json_string(json, "kernel", environment->machine.release);
	json_string(json, "machine", environment->machine.machine);
	json_string(json, "program", "blkbox " BLKBOX_VERSION);
	json_string(json, "filesystemMagicLabel", environment->label);
	json_string(json, "filesystem", environment->file_system.name);
	json_string(json, "filesystemMagic", magic);
	json_i64(json, "pageSizeBytes", environment->page_bytes);
	json_bool(json, "taskIoAccounting", environment->accounting);
	json_object_end(json);
}

static void write_bytes(struct json *json, const struct truth_bytes *bytes)
{
	json_u64(json, "queued_read_bytes", bytes->queued_read);
	json_u64(json, "queued_write_bytes", bytes->queued_write);
	json_u64(json, "queued_discard_bytes", bytes->queued_discard);
	json_u64(json, "completed_read_bytes", bytes->completed_read);
	json_u64(json, "completed_write_bytes", bytes->completed_write);
	json_u64(json, "queued_metadata_bytes", bytes->queued_metadata);
	json_u64(json, "queued_readahead_bytes", bytes->queued_readahead);
	json_u64(json, "flushes", bytes->flushes);
}

static const char not_made[] = "not made here";

/*
 * Of what the device did, to what the tasks are charged for.
 * @none: why there is nothing that they are charged for
 */
static void write_factor(struct json *json, const char *key, const char *reason_key,
			 uint64_t device_bytes, uint64_t accounted_bytes, const char *none)
{
	if (accounted_bytes) {
		json_double(json, key, (double)device_bytes / (double)accounted_bytes,
			    FACTOR_DECIMALS);
		json_null(json, reason_key);
	} else {
		json_null(json, key);
		json_string(json, reason_key, none);
	}
}

static void write_factors(struct json *json, const struct observation *observation,
			  const struct truth_bytes *device)
{
	static const char none[] = "no bytes are on the tasks' account";
	static const char all_cancelled[] =
		"all bytes on the tasks' account were cancelled before they were written";
	const uint64_t *accounted = observation->total.value;
	uint64_t read = accounted[IO_READ_BYTES], write = accounted[IO_WRITE_BYTES];
	uint64_t cancelled = accounted[IO_CANCELLED_WRITE_BYTES];
	/* What was cancelled was never to be written. */
	uint64_t written = write > cancelled ? write - cancelled : 0;
	bool skipped = observation->skipped;

	write_factor(json, "read_factor", "read_factor_reason", device->completed_read,
		     skipped ? 0 : read, skipped ? not_made : none);
	write_factor(json, "write_factor", "write_factor_reason", device->completed_write,
		     skipped ? 0 : written,
		     skipped ? not_made
		     : write ? all_cancelled
			     : none);
}

static void write_owner(struct json *json, const struct truth_owner *owner)
{
	json_object_begin(json, NULL);
	json_string(json, "role", owner->role);
	json_u64(json, "pid", owner->pid);
	json_string(json, "name", owner->name[0] ? owner->name : NULL);
	write_bytes(json, &owner->bytes);
	json_object_end(json);
}

static void write_window(struct json *json, const char *name, const struct observation *observation,
			 const struct truth_window *window)
{
	size_t n_owners = observation->skipped ? 0 : window->n_owners;

	json_object_begin(json, NULL);
	json_string(json, "experiment", name);
	json_u64(json, "repetition", observation->repetition);
	if (observation->skipped) {
		json_null(json, "accounted");
		json_null(json, "device");
		json_string(json, "device_reason", not_made);
	} else {
		write_counters(json, "accounted", &observation->total);
		json_object_begin(json, "device");
		write_bytes(json, &window->total);
		json_object_end(json);
		json_null(json, "device_reason");
	}
	write_factors(json, observation, &window->total);
	json_array_begin(json, "owners");
	for (size_t i = 0; i < n_owners; i++)
		write_owner(json, &window->owners[i]);
	json_array_end(json);
	json_object_end(json);
}

static void write_truth(struct json *json, const struct taskio *taskio)
{
	const struct truth_recording *recording = &taskio->truth->recording;

	json_object_begin(json, "deviceTruth");
	json_string(json, "device", recording->device);
	json_u64(json, "protocol", recording->protocol);
	json_bool(json, "complete", recording->complete);
	json_u64(json, "events", recording->events);
	json_u64(json, "dropped", recording->dropped);
	json_array_begin(json, "experiments");
	for (size_t i = 0; i < taskio->truth->n; i++)
		write_window(json, taskio->experiments[i % taskio->n_experiments]->name,
			     &taskio->observations[i], &taskio->truth->windows[i]);
	json_array_end(json);
	json_object_end(json);
}

/* "2026-01-31T12:00:00.123456+00:00" */
static void write_now(struct json *json)
{
	struct iso_time now = iso_time_format(clock_real_ns(), MICROSECONDS);
	char text[sizeof(now.text) + 8];

	now.text[strcspn(now.text, "Z")] = '\0';
	snprintf(text, sizeof(text), "%s+00:00", now.text);
	json_string(json, "generatedAt", text);
}

void taskio_write_json(const struct taskio *taskio, struct out *out)
{
	const struct taskio_options *options = &taskio->options;
	const char *digest = taskio->environment.program;
	struct json json;

	json_init(&json, out, true);
	json_object_begin(&json, NULL);
	json_u64(&json, "schemaVersion",
		 options->extended || taskio->truth ? VERSION_EXTENDED : VERSION_BASIC);
	json_string(&json, "kind", "measured-linux-task-accounting");
	write_now(&json);
	json_string(&json, "sourceSha256", digest[0] ? digest : NULL);
	write_environment(&json, &taskio->environment);
	json_object_begin(&json, "parameters");
	json_u64(&json, "repetitions", options->repetitions);
	json_u64(&json, "payloadBytes", options->payload_bytes);
	json_object_end(&json);
	json_string(&json, "method", method);
	json_array_begin(&json, "limits");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		json_string(&json, NULL, limits[i]);
	json_array_end(&json);
	write_observations(&json, taskio);
	write_results(&json, taskio);
	if (taskio->truth)
		write_truth(&json, taskio);
	json_object_end(&json);
	json_finish(&json);
}
