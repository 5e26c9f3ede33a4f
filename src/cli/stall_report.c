/* SPDX-License-Identifier: MIT */
#include "stall_report.h"

#include "cli.h"

int command_stall_report(int argc, char **argv)
{
	(void)argc;
	return usage_error(argv[0], "this build cannot read samples yet");
}
