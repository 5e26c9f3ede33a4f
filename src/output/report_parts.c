/* SPDX-License-Identifier: MIT */
#include "report_parts.h"

#include "escape.h"

#include <inttypes.h>
#include <string.h>

double report_seconds(const struct report *report)
{
	return (double)(report->result->to_ns - report->result->from_ns) / 1e9;
}

uint64_t report_since(const struct report *report, uint64_t time_ns)
{
	uint64_t start_ns = recording_info(report->recording)->start_ns;

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

double report_depth(unsigned __int128 sum, uint64_t ns)
{
	return ns ? (double)sum / (double)ns : NAN;
}

const char *report_level_name(const struct report *report, uint32_t tag, uint32_t device)
{
	static char number[32];
	const char *name = recording_device_name(report->recording, tag, device);

	if (strcmp(name, "?") != 0)
		return name;
	/* Devices that were traced together can be in inputs of their own. */
	for (size_t i = 0; i < report->result->n_devices; i++) {
		if (report->result->devices[i].device == device)
			return report->result->devices[i].name;
	}
	snprintf(number, sizeof(number), "%u,%u", blkbox_device_major(device),
		 blkbox_device_minor(device));
	return number;
}

const char *report_merge_name(enum track_merge merge)
{
	static const char *const names[] = {
		[TRACK_NOT_MERGED] = NULL,
		[TRACK_BACK] = "back",
		[TRACK_FRONT] = "front",
		[TRACK_REQUEST] = "request",
		[TRACK_UNANNOUNCED] = "unannounced",
	};

	return names[merge];
}

const char *report_end_name(enum track_end end)
{
	static const char *const names[TRACK_ENDS] = {
		[TRACK_END_IN_FLIGHT] = "in_flight",
		[TRACK_END_LOSS] = "loss",
		[TRACK_END_REUSED] = "reused",
		[TRACK_END_AGED] = "aged",
	};

	return names[end];
}

uint64_t report_data_bytes(const struct stats_group *group)
{
	return group->operation == OPERATION_NONE ? group->data_bytes : group->bytes;
}

struct figure report_error(int error)
{
	const char *name = strerrorname_np(error < 0 ? -error : error);
	struct figure figure;

	if (name)
		snprintf(figure.text, sizeof(figure.text), "%s", name);
	else
		snprintf(figure.text, sizeof(figure.text), "%d", error);
	return figure;
}

struct figure figure_some(uint64_t n, const char *what)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
	return figure;
}

/* Three digits that tell something. */
static struct figure scaled(double value, const char *unit)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.*f %s",
		 value < 9.995	 ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, unit);
	return figure;
}

struct figure figure_ns(uint64_t ns)
{
	struct figure figure;

	/* From where three digits would be 1000. */
	if (ns >= 999500000)
		return scaled((double)ns / 1e9, "s");
	if (ns >= 999500)
		return scaled((double)ns / 1e6, "ms");
	if (ns >= 1000)
		return scaled((double)ns / 1e3, "us");
	snprintf(figure.text, sizeof(figure.text), "%u ns", (unsigned)ns);
	return figure;
}

struct figure figure_count(uint64_t n)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%" PRIu64, n);
	return figure;
}

struct figure figure_rate(double n)
{
	struct figure figure;

	if (!isfinite(n))
		return (struct figure){"-"};
	snprintf(figure.text, sizeof(figure.text), "%.*f", n < 99.95 ? 2 : 0, n);
	return figure;
}

struct figure figure_latency(const struct histogram *h, double q)
{
	if (!h || !h->n)
		return (struct figure){"-"};
	return figure_ns(q < 0 ? (uint64_t)(histogram_mean(h) + 0.5) : histogram_quantile(h, q));
}

struct figure figure_mib(uint64_t bytes)
{
	return figure_rate((double)bytes / (1 << 20));
}

struct owner_text owner_text(enum owner_kind owner, uint32_t pid, const char *comm)
{
	char escaped[ESCAPE_FACTOR * NAMES_COMM_BYTES + 1];
	struct owner_text text;

	escaped[escape_text(escaped, comm, strnlen(comm, NAMES_COMM_BYTES))] = '\0';
	if (owner == OWNER_WRITEBACK || owner == OWNER_INTERRUPT)
		snprintf(text.text, sizeof(text.text), "[%s]", owner_kind_name(owner));
	else if (owner == OWNER_UNKNOWN)
		snprintf(text.text, sizeof(text.text), "[not seen queued]");
	else
		snprintf(text.text, sizeof(text.text), owner == OWNER_PROCESS ? "%s %u" : "[%s] %u",
			 *comm ? escaped : "<...>", pid);
	return text;
}

int report_sum(const struct report *report, enum operation operation, struct stats_group *ret)
{
	const struct stats_result *result = report->result;
	int r = 0;

	*ret = (struct stats_group){.operation = operation};
	for (size_t i = 0; i < result->n_devices && r == 0; i++) {
		if (result->devices[i].operations[operation])
			r = stats_group_add(ret, result->devices[i].operations[operation]);
	}
	if (r < 0)
		stats_group_deinit(ret);
	return r;
}

uint64_t report_overdue(const struct stats_device *device)
{
	return device->all.ended[TRACK_END_REUSED] + device->all.ended[TRACK_END_AGED];
}

uint64_t report_untold(const struct report *report)
{
	const struct stats_result *result = report->result;
	uint64_t n = 0;

	for (size_t i = 0; i < result->n_devices; i++) {
		const struct stats_device *device = &result->devices[i];

		if (!device->dropped && !device->gap_events)
			n += report_overdue(device) + device->all.strays[TRACK_STRAY_OTHER];
	}
	return n;
}
