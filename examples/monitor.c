/* SPDX-License-Identifier: MIT */
/*
 * Records one device while a command runs and holds all events in memory:
 *
 *	cc monitor.c $(pkg-config --cflags --libs blkbox) -o monitor
 *	./monitor /dev/sda 'dd if=/dev/sda of=/dev/null count=8 iflag=direct'
 */
#include <blkbox/log.h>
#include <blkbox/session.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct blkbox_options options = BLKBOX_OPTIONS_INIT;
	struct blkbox_session *session = NULL;
	struct blkbox_report report;
	struct blkbox_event event, *events = NULL;
	struct blkbox_log *log;
	char why[BLKBOX_WHY_MAX];
	size_t n = 0;

	if (argc != 3)
		return 2;
	options.devices = (const char *const *)&argv[1];
	options.n_devices = 1;
	if (blkbox_drop_page_cache(why) < 0 || blkbox_session_open(&options, &session, why) < 0 ||
	    blkbox_session_start(session, why) < 0 || system(argv[2]) != 0 ||
	    blkbox_session_stop(session, &report, why) < 0 ||
	    blkbox_log_open_fd(blkbox_session_log_fd(session), &log, why) < 0) {
		fprintf(stderr, "monitor: %s\n", why);
		blkbox_session_discard(session);
		return 1;
	}
	while (blkbox_log_next(log, &event, NULL) > 0) {
		event.pdu = NULL; /* the only part that is not ours to keep */
		events = reallocarray(events, n + 1, sizeof(event));
		events[n++] = event;
	}
	printf("%zu records, %llu events, %llu dropped\n", n, (unsigned long long)report.events,
	       (unsigned long long)report.dropped);
	blkbox_log_close(log);
	blkbox_session_discard(session);
	free(events);
	return 0;
}
