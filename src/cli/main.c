/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "inherited.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

static int cmd_help(int argc, char **argv);

/* In the order of a day's work, not of the alphabet. */
static const struct command commands[] = {
	{"check", cmd_check, "what a recording needs, and whether it is there"},
	{"record", cmd_record, "trace devices during a command, for a time, or until a signal"},
	{"live", cmd_live, "show events as text, as they happen"},
	{"info", cmd_info, "tell what was recorded, and what was lost"},
	{"verify", cmd_verify, "check every byte of a log"},
	{"status", cmd_status, "which traces run now on this machine, and whose they are"},
	{"stop", cmd_stop, "end a trace that was left behind"},
	{"dump", cmd_dump, "show the events of a recording as text, like blkparse"},
	{"report", cmd_report, "tell where the time went, and who waited"},
	{"export", cmd_export, "write a recording in another tool's format"},
	{"stall", cmd_stall, "sample who waits for disks, and who keeps them busy"},
	{"taskio", cmd_taskio, "measure what the kernel's per-task I/O accounting counts"},
	{"help", cmd_help, "this list"},
};

enum {
	N_COMMANDS = sizeof(commands) / sizeof(commands[0])
};

static void print_help(FILE *stream)
{
	fputs("Usage: blkbox COMMAND [ARG...]\n"
	      "A flight recorder for the Linux block layer.\n\n",
	      stream);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(stream, "  %-8s  %s\n", commands[i].name, commands[i].summary);
	fputs("\nblkbox COMMAND --help explains a command, with examples.\n"
	      "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but the result is "
	      "incomplete.\n",
	      stream);
}

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print_help(stdout);
	return STATUS_OK;
}

/*
 * A standard file that is closed must not be the number of a file that we open: messages would be
 * written into it. The wrong direction, so that using it is an error all the same.
 */
static void occupy_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

int main(int argc, char **argv)
{
	occupy_standard_files();
	inherited_reduce();
	atexit(check_stdout_at_exit);
	/* A closed pipe is an error of write(2), handled where we write; never a silent death. */
	signal(SIGPIPE, SIG_IGN);
	/* So is a file that grows to its limit. */
	signal(SIGXFSZ, SIG_IGN);

	if (argc < 2) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return close_stdout("help", cmd_help(argc, argv));
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("blkbox %s\n", BLKBOX_VERSION);
		return close_stdout("--version", STATUS_OK);
	}
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i].name))
			return close_stdout(argv[1], commands[i].run(argc - 1, argv + 1));
	}
	message("there is no command '%s'; 'blkbox --help' lists them", argv[1]);
	return STATUS_USAGE;
}
