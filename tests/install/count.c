/* SPDX-License-Identifier: MIT */
/* Counts the records of a recording, but for timestamps and process names, which blkparse hides. */
#include <blkbox/log.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct blkbox_event event;
	struct blkbox_log *log;
	unsigned long n = 0;
	int r;

	if (argc != 2 || blkbox_log_open(argv[1], &log, NULL) < 0)
		return 1;
	while ((r = blkbox_log_next(log, &event, NULL)) > 0) {
		if (!blkbox_event_is_note(&event) || event.action == BLKBOX_NOTE_MESSAGE)
			n++;
	}
	blkbox_log_close(log);
	printf("%lu\n", n);
	return r < 0;
}
