/* SPDX-License-Identifier: MIT */
#include "taskio.h"

#include "cgroup.h"
#include "direct.h"
#include "loop_fs.h"
#include "pair.h"
#include "scratch.h"

#include <fcntl.h>
#include <string.h>

enum {
	MIB = 1 << 20,
	EXPERIMENTS_MAX = 24
};

/* One run. */
struct run {
	const struct taskio_options *options;
	const struct watch *watch;
	struct taskio *taskio;
	int proc_fd;
	char cgroup_parent[PATH_MAX];
	struct why cgroup_why;
	struct scratch scratch;
	struct loop_fs fs;
	struct crew crew;
	char *payload;
	bool recording;
};

static const struct {
	const struct experiment *experiments;
	size_t n;
} groups[] = {
	{basic_experiments, 4}, /* the basic suite */
	{direct_experiments, 4}, {memory_experiments, 2}, {copy_experiments, 3},
	{uring_experiments, 1},	 {family_experiments, 3}, {cgroup_experiments, 1},
};

static int list_experiments(struct taskio *taskio)
{
	const struct experiment **list = calloc(EXPERIMENTS_MAX, sizeof(*list));
	size_t n_groups = taskio->options.extended ? sizeof(groups) / sizeof(groups[0]) : 1;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n_groups; i++) {
		for (size_t k = 0; k < groups[i].n; k++)
			list[taskio->n_experiments++] = &groups[i].experiments[k];
	}
	taskio->experiments = list;
	return 0;
}

static int taskio_create(const struct taskio_options *options, struct taskio **ret)
{
	_cleanup_(cleanup_taskio_destroy) struct taskio *taskio = calloc(1, sizeof(*taskio));
	int r;

	if (!taskio)
		return -ENOMEM;
	taskio->options = *options;
	r = list_experiments(taskio);
	if (r < 0)
		return r;
	taskio->observations =
		calloc(options->repetitions * taskio->n_experiments, sizeof(*taskio->observations));
	if (!taskio->observations)
		return -ENOMEM;
	if (options->truth_fs) {
		r = truth_create(taskio->observations, options->repetitions * taskio->n_experiments,
				 &taskio->truth);
		if (r < 0)
			return r;
	}
	*ret = take_ptr(taskio);
	return 0;
}

void taskio_destroy(struct taskio *taskio)
{
	if (!taskio)
		return;
	truth_destroy(taskio->truth);
	free((void *)taskio->experiments);
	free(taskio->observations);
	free(taskio);
}

const struct observation *taskio_observation(const struct taskio *taskio, size_t repetition,
					     size_t experiment)
{
	return &taskio->observations[repetition * taskio->n_experiments + experiment];
}

/* Directory, file system, recording, workers' place: in this order. */
static int set_up(struct run *run, struct why *why)
{
	const struct taskio_options *options = run->options;
	bool has_cgroup;
	int dir_fd, r;

	run->proc_fd = io_counters_open_proc(why);
	if (run->proc_fd < 0)
		return run->proc_fd;
	has_cgroup = options->extended &&
		     cgroup_find_parent(run->cgroup_parent, sizeof(run->cgroup_parent),
					&run->cgroup_why) == 0;
	run->payload = aligned_alloc(BUFFER_ALIGNMENT, options->payload_bytes);
	if (!run->payload)
		return why_errno(why, -ENOMEM, "cannot have a payload of %zu bytes",
				 options->payload_bytes);
	memset(run->payload, FILLING, options->payload_bytes);
	r = scratch_create(&run->scratch, options->temp_dir, has_cgroup ? run->cgroup_parent : NULL,
			   why);
	if (r == 0 && options->truth_fs)
		r = loop_fs_create(&run->fs, options->truth_fs, &run->scratch, run->watch, why);
	if (r < 0)
		return r;
	dir_fd = options->truth_fs ? run->fs.dir_fd : run->scratch.fd;
	r = environment_read(run->proc_fd, dir_fd, &run->taskio->environment, why);
	if (r == 0 && options->truth_fs) {
		r = options->recorder->start(options->recorder->context, run->fs.device, why);
		run->recording = r == 0;
	}
	return r < 0 ? r : crew_init(&run->crew, run->watch, dir_fd, why);
}

/* -errno: the directory is still there. */
static int tear_down(struct run *run)
{
	int r;

	crew_deinit(&run->crew);
	if (run->recording)
		run->options->recorder->stop(run->options->recorder->context, NULL, NULL);
	loop_fs_destroy(&run->fs);
	r = scratch_destroy(&run->scratch);
	close_keep_errno(take_fd(&run->proc_fd));
	free(run->payload);
	return r;
}

static int run_experiment(const struct bench *bench, const struct experiment *experiment,
			  struct observation *observation, struct why *why)
{
	int left, r = experiment->run(bench, observation, why);

	/* One that was skipped has no time at all. */
	if (r == 0 && observation->from_ns && !observation->to_ns)
		r = bench_end(bench, observation, why);
	left = directory_empty(bench->dir_fd);
	if (r == 0 && left < 0)
		r = why_errno(why, left, "cannot remove its files in %s", bench->dir);
	return r < 0 ? why_prefix(why, r, "%s", experiment->name) : 0;
}

static int run_experiments(struct run *run, struct why *why)
{
	struct taskio *taskio = run->taskio;
	struct bench bench = {
		.crew = &run->crew,
		.proc_fd = run->proc_fd,
		.dir_fd = run->crew.keep_fd,
		.dir = run->options->truth_fs ? run->fs.device : run->scratch.path,
		.file_system = taskio->environment.file_system,
		.payload_bytes = run->options->payload_bytes,
		.payload = run->payload,
		.write_back = run->options->truth_fs,
		.cgroup = run->scratch.cgroup[0] ? run->scratch.cgroup : NULL,
		.cgroup_reason = run->cgroup_why.text,
	};
	size_t n = taskio->options.repetitions * taskio->n_experiments;

	for (size_t i = 0; i < n; i++) {
		struct observation *observation = &taskio->observations[i];
		int r;

		observation->repetition = (unsigned)(i / taskio->n_experiments) + 1;
		r = watch_check(run->watch, why);
		if (r == 0)
			r = run_experiment(&bench, taskio->experiments[i % taskio->n_experiments],
					   observation, why);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What only the device can tell. */
static int settle(struct taskio *taskio, const struct device_recorder *recorder, struct why *why)
{
	struct truth *truth = taskio->truth;
	int r = recorder->stop(recorder->context, truth, why);

	for (size_t i = 0; r == 0 && truth->recording.complete && i < truth->n; i++) {
		const struct truth_bytes *device = &truth->windows[i].total;

		pair_settle(&taskio->observations[i], device->completed_write);
		direct_settle(&taskio->observations[i], device->completed_read);
	}
	return r;
}

int taskio_run(const struct taskio_options *options, const struct watch *watch, struct taskio **ret,
	       struct why *why)
{
	_cleanup_(cleanup_taskio_destroy) struct taskio *taskio = NULL;
	struct run run = {
		.options = options,
		.watch = watch,
		.proc_fd = -1,
		.scratch = {.parent_fd = -1, .fd = -1, .guardian.fd = -1},
		.fs = {.device_fd = -1, .dir_fd = -1},
	};
	struct why before = {""};
	int left, r = taskio_create(options, &taskio);

	if (r < 0)
		return why_errno(why, r, "cannot keep the results");
	run.taskio = taskio;
	r = set_up(&run, why);
	if (r == 0)
		r = run_experiments(&run, why);
	if (r == 0 && run.recording) {
		run.recording = false;
		r = settle(taskio, options->recorder, why);
	}
	left = tear_down(&run);
	if (why)
		before = *why;
	if (left < 0)
		r = why_errno(why, left, "%.200s%scannot remove %.200s, which is left",
			      r < 0 ? before.text : "", r < 0 ? "; and " : "", run.scratch.path);
	if (r < 0)
		return r;
	*ret = take_ptr(taskio);
	return 0;
}
