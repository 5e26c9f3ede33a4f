/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include "figure.h"

#include <string.h>

struct key {
	const char *name; /* with what stands behind it */
	enum machine_figure figure;
};

static const struct key vmstat_keys[] = {
	{"compact_stall ", MACHINE_COMPACT_STALL},
	{"pgmajfault ", MACHINE_MAJOR_FAULTS},
	/* Of one zone each, whatever zones there are. */
	{"allocstall_", MACHINE_ALLOCSTALL},
	/* Of all zones: kernels before 4.10. */
	{"allocstall ", MACHINE_ALLOCSTALL},
	{NULL},
};

static const struct key meminfo_keys[] = {
	{"MemFree:", MACHINE_FREE_KB},
	{"MemAvailable:", MACHINE_AVAILABLE_KB},
	{"Dirty:", MACHINE_DIRTY_KB},
	{"Writeback:", MACHINE_WRITEBACK_KB},
	{NULL},
};

void machine_init(struct machine *machine)
{
	*machine = (struct machine){
		.vmstat_fd = -1,
		.meminfo_fd = -1,
		.io_fd = -1,
		.memory_fd = -1,
	};
}

void machine_close(struct machine *machine, struct proc_files *files)
{
	proc_file_close(files, &machine->vmstat_fd);
	proc_file_close(files, &machine->meminfo_fd);
	proc_file_close(files, &machine->io_fd);
	proc_file_close(files, &machine->memory_fd);
}

static void take_line(const char *line, const struct key *keys, struct machine_sample *sample)
{
	for (; keys->name; keys++) {
		size_t n = strlen(keys->name);
		uint64_t *value = &sample->value[keys->figure];

		/* Most lines differ in the first letter. */
		if (line[0] != keys->name[0] || strncmp(line, keys->name, n) != 0)
			continue;
		line += strcspn(line, " \t");
		*value = figure_sum(*value, proc_number(&line));
		return;
	}
}

static void take_lines(const char *text, const struct key *keys, struct machine_sample *sample)
{
	for (const char *line = text; line && *line;) {
		take_line(line, keys, sample);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", and a line with "full". */
static uint64_t total_of(const char *text, const char *word)
{
	const char *line = strstr(text, word);
	const char *total = line ? strstr(line, "total=") : NULL;

	if (!total)
		return FIGURE_UNKNOWN;
	total += strlen("total=");
	return proc_number(&total);
}

static void read_pressure(struct proc_files *files, int *fd, const char *path,
			  struct machine_sample *sample, enum machine_figure some)
{
	char text[512];

	if (proc_file_read(files, fd, path, text, sizeof(text)) <= 0)
		return;
	sample->value[some] = total_of(text, "some ");
	sample->value[some + 1] = total_of(text, "full ");
}

void machine_read(struct machine *machine, struct proc_files *files, bool memory_pressure,
		  struct machine_sample *ret)
{
	char text[32 << 10];

	for (int i = 0; i < N_MACHINE_FIGURES; i++)
		ret->value[i] = FIGURE_UNKNOWN;
	if (proc_file_read_all(files, &machine->vmstat_fd, "vmstat", text, sizeof(text)) > 0)
		take_lines(text, vmstat_keys, ret);
	if (proc_file_read_all(files, &machine->meminfo_fd, "meminfo", text, sizeof(text)) > 0)
		take_lines(text, meminfo_keys, ret);
	read_pressure(files, &machine->io_fd, "pressure/io", ret, MACHINE_IO_SOME_US);
	if (memory_pressure)
		read_pressure(files, &machine->memory_fd, "pressure/memory", ret,
			      MACHINE_MEMORY_SOME_US);
}
