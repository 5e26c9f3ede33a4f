/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `blkbox stall report`: what the samples of `blkbox stall` tell.
 */
#ifndef BLKBOX_CLI_STALL_REPORT_H
#define BLKBOX_CLI_STALL_REPORT_H

/** @argv: argv[0] is "report". Returns the exit status. */
int command_stall_report(int argc, char **argv);

#endif
