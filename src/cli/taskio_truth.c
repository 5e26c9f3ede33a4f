/* SPDX-License-Identifier: MIT */
#include "taskio_truth.h"

#include <blkbox/log.h>
#include <string.h>

static int start(void *context, const char *device, struct why *why)
{
	struct taskio_truth *truth = context;
	/* What is dirty, the experiments write back themselves. */
	struct blkbox_options options = {.devices = &device, .n_devices = 1, .no_flush = true};
	int r = blkbox_session_open(&options, &truth->session, why->text);

	return r < 0 ? r : blkbox_session_start(truth->session, why->text);
}

static int read_log(int log_fd, struct truth *truth, struct why *why)
{
	struct blkbox_event event;
	struct blkbox_log *log;
	int r = blkbox_log_open_fd(log_fd, &log, why->text);

	if (r < 0)
		return r;
	while ((r = blkbox_log_next(log, &event, why->text)) > 0) {
		r = truth_add(truth, &event, blkbox_log_process_name(log, &event));
		if (r < 0) {
			why_errno(why, r, "cannot keep what the device did");
			break;
		}
	}
	blkbox_log_close(log);
	return r;
}

static void keep_report(const struct blkbox_report *report, struct truth_recording *recording)
{
	snprintf(recording->device, sizeof(recording->device), "%s",
		 report->n_devices ? report->devices[0].name : "");
	recording->protocol = report->n_devices ? report->devices[0].protocol : 0;
	recording->complete = report->complete;
	recording->events = report->events;
	recording->dropped = report->dropped;
}

static int stop(void *context, struct truth *result, struct why *why)
{
	struct taskio_truth *truth = context;
	struct blkbox_report report;
	int r;

	/* Nobody wants it any more. */
	if (!result) {
		taskio_truth_deinit(truth);
		return 0;
	}
	r = blkbox_session_stop(truth->session, &report, why->text);
	if (r < 0)
		return r;
	keep_report(&report, &result->recording);
	return read_log(blkbox_session_log_fd(truth->session), result, why);
}

void taskio_truth_init(struct taskio_truth *truth)
{
	*truth = (struct taskio_truth){
		.recorder = {.context = truth, .start = start, .stop = stop},
	};
}

void taskio_truth_deinit(struct taskio_truth *truth)
{
	blkbox_session_discard(truth->session);
	truth->session = NULL;
}
