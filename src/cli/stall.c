/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include "stall_report.h"

#include <string.h>

int cmd_stall(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "report"))
		return command_stall_report(argc - 1, argv + 1);
	return usage_error("stall", "this build cannot sample yet");
}
