/* SPDX-License-Identifier: MIT */
/* library DEVICE [takeover]: a short recording by a program that is linked with libblkbox; prints the news. */
#include <blkbox/session.h>
#include <stdio.h>

static void print_news(struct blkbox_session *session)
{
	char text[BLKBOX_WHY_MAX];

	while (blkbox_session_next_news(session, text))
		printf("news: %s\n", text);
}

int main(int argc, char **argv)
{
	struct blkbox_options options = BLKBOX_OPTIONS_INIT;
	struct blkbox_session *session = NULL;
	struct blkbox_report report;
	char why[BLKBOX_WHY_MAX];
	int r;

	if (argc < 2)
		return 2;
	options.devices = (const char *const *)&argv[1];
	options.n_devices = 1;
	options.takeover = argc > 2;
	r = blkbox_session_open(&options, &session, why);
	if (r >= 0)
		r = blkbox_session_start(session, why);
	if (session)
		print_news(session);
	if (r >= 0)
		r = blkbox_session_stop(session, &report, why);
	if (r < 0)
		printf("failed: %s\n", why);
	blkbox_session_discard(session);
	return r < 0;
}
