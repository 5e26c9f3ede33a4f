/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells in /proc and /sys: by the parsers of single files, and by the sampler over
 * a made-up machine. Input: up to three samples, 0xfe between them; of each the files below in
 * their order, 0xff between them.
 */
#include "fuzz.h"

#include "cgroup.h"
#include "cpus.h"
#include "io_counters.h"
#include "process.h"
#include "sampler.h"
#include "sysroot.h"
#include "task_stat.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SAMPLES_MAX = 3
};

static const char *const names[] = {
	"proc/7/task/7/stat",  "proc/7/io",
	"proc/vmstat",	       "proc/meminfo",
	"proc/diskstats",      "proc/7/task/7/schedstat",
	"proc/7/task/7/wchan", "proc/7/cgroup",
	"proc/pressure/io",    "proc/pressure/memory",
	"proc/loadavg",	       "proc/sys/kernel/task_delayacct",
	"proc/self/mounts",    "sys/devices/system/cpu/online",
	"proc/7/stat",
};

enum {
	N_FILES = sizeof(names) / sizeof(names[0])
};

/* Made once, filled again for each sample. */
static struct tree {
	char path[64];
	int fd, proc_fd, sys_fd;
	int files[N_FILES];
} tree;

static void remove_tree(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", tree.path);
	FUZZ_CHECK(system(command) == 0);
}

static void make_file(size_t i)
{
	char part[64];

	for (const char *slash = names[i]; (slash = strchr(slash, '/')); slash++) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - names[i]), names[i]);
		mkdirat(tree.fd, part, 0700);
	}
	tree.files[i] = openat(tree.fd, names[i], O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	FUZZ_CHECK(tree.files[i] >= 0);
}

static void make_tree(void)
{
	if (tree.path[0])
		return;
	strcpy(tree.path, "/dev/shm/blkbox-fuzz-XXXXXX");
	FUZZ_CHECK(mkdtemp(tree.path));
	atexit(remove_tree);
	tree.fd = open(tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < N_FILES; i++)
		make_file(i);
	mkdirat(tree.fd, "sys/block", 0700);
	mkdirat(tree.fd, "sys/block/sda", 0700);
	mkdirat(tree.fd, "sys/block/sda/device", 0700);
	tree.proc_fd = openat(tree.fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree.sys_fd = openat(tree.fd, "sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put(size_t i, const uint8_t *bytes, size_t n)
{
	FUZZ_CHECK(ftruncate(tree.files[i], 0) == 0);
	FUZZ_CHECK(pwrite(tree.files[i], bytes, n, 0) == (ssize_t)n);
}

/* The files of a sample. Those that are not told stay as they were. Returns what is behind it. */
static const uint8_t *put_sample(const uint8_t *at, const uint8_t *end)
{
	for (size_t i = 0; i < N_FILES; i++) {
		const uint8_t *from = at;

		while (at < end && *at < 0xfe)
			at++;
		put(i, from, (size_t)(at - from));
		if (at == end || *at == 0xfe)
			break;
		at++;
	}
	while (at < end && *at != 0xfe)
		at++;
	return at < end ? at + 1 : end;
}

static void check_row(void *context, const struct stall_tick *tick, const char *row, size_t n)
{
	(void)context;
	(void)tick;
	FUZZ_CHECK(n && row[n - 1] == '\n');
	for (size_t i = 0; i < n - 1; i++)
		FUZZ_CHECK((uint8_t)row[i] >= 0x20 && row[i] != 0x7f);
}

static void check_alert(void *context, const char *text)
{
	(void)context;
	FUZZ_CHECK(*text);
}

static void sample(const uint8_t *data, size_t size, bool all_columns)
{
	const uint8_t *at = data, *end = data + size;
	struct sampler_options options = {
		.proc_fd = tree.proc_fd,
		.sys_fd = tree.sys_fd,
		.watch = {.everybody = true},
		.all_columns = all_columns,
		.alert_ns = 1,
		.sink = {check_row, check_alert, NULL},
	};
	struct sampler_moment moment = {1000000000000, 1700000000000000000, 100000000000};
	struct sampler sampler;
	struct why why = {""};

	for (size_t i = 0; i < N_FILES; i++)
		put(i, NULL, 0);
	at = put_sample(at, end);
	if (sampler_init(&sampler, &options, &why) < 0) {
		FUZZ_CHECK(*why.text);
		return;
	}
	for (int i = 0; i < SAMPLES_MAX; i++) {
		sampler_tick(&sampler, &moment, 0);
		moment.mono_ns += 100000000;
		moment.real_ns += 100000000;
		moment.boot_ns += 100000000;
		at = put_sample(at, end);
	}
	sampler_finish(&sampler, &moment);
	sampler_deinit(&sampler);
}

/* What a recorder reads there. */
static void read_as_recorder(void)
{
	struct sysroot root;
	struct process process;
	struct cpus cpus = {0};
	char path[256];

	FUZZ_CHECK(sysroot_open(&root, tree.path) == 0);
	if (process_read(&root, 7, &process) == 0)
		FUZZ_CHECK(memchr(process.name, 0, sizeof(process.name)));
	if (sysroot_find_mount(&root, "debugfs", path, sizeof(path)) == 0)
		FUZZ_CHECK(memchr(path, 0, sizeof(path)));
	if (cpus_online(&root, &cpus) == 0)
		FUZZ_CHECK(cpus.n <= 1 << 20);
	cpus_deinit(&cpus);
	sysroot_close(&root);
}

static void parse(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct io_counters counters;
	struct cgroup_io io;
	struct task_stat stat;
	struct cpus cpus = {0};
	struct why why = {""};

	if (task_stat_parse(text, size, &stat) == 0)
		FUZZ_CHECK(memchr(stat.name, 0, sizeof(stat.name)));
	if (io_counters_parse(text, &counters, &why) < 0)
		FUZZ_CHECK(*why.text);
	cgroup_io_parse(text, &io);
	cpus_parse(text, &cpus);
	cpus_deinit(&cpus);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	make_tree();
	parse(data, size);
	sample(data, size, size % 2);
	read_as_recorder();
	return 0;
}
