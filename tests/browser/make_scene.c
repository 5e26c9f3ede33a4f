/* SPDX-License-Identifier: MIT */
/*
 * make_scene KIND FILE: a log that was never recorded, for the report's page.
 *
 *	empty	no event
 *	one	one read
 *	many	two disks for a minute, three million events: phases, a stall every few seconds
 *	losses	a disk for a minute, with three windows of lost events; a second disk without
 *	hostile	processes with names that a page must not take for markup
 *	huge	more of everything than a page has room for
 */
#include "../unit/trace_builder.h"
#include "log_writer.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	DEVICES_MAX = 40,
	CPUS = 4,
	FLUSH_BYTES = 256 << 10,
};

struct io {
	char op; /* R, W, D, F */
	uint32_t device, pid, bytes;
	uint64_t sector;
};

struct step {
	double us;
	uint32_t io;
	char act;
};

struct scene {
	unsigned seed;
	uint32_t n_devices;
	struct io *ios;
	size_t n_ios, ios_room;
	struct step *steps;
	size_t n_steps, steps_room;
	struct log_drops drops[4000];
	size_t n_drops;
	struct log_name names[4000];
	size_t n_names;
};

/* The moment at which every scene begins. */
static const double start_us = 5e9;

static double dice(struct scene *scene)
{
	return (rand_r(&scene->seed) + 1.0) / (RAND_MAX + 2.0);
}

static uint32_t choose(struct scene *scene, uint32_t n)
{
	return (uint32_t)rand_r(&scene->seed) % n;
}

/* As latencies are: most near @typical_us, a few far above. */
static double latency(struct scene *scene, double typical_us)
{
	double spread = sqrt(-2 * log(dice(scene))) * cos(2 * M_PI * dice(scene));

	return typical_us * exp(0.35 * spread) * (dice(scene) < 0.002 ? 12 : 1);
}

static void *grown(void *items, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return items;
	*room = *room ? 2 * *room : 4096;
	items = reallocarray(items, *room, size);
	if (!items)
		abort();
	return items;
}

static void add_step(struct scene *scene, char act, double us)
{
	scene->steps = grown(scene->steps, scene->n_steps, &scene->steps_room, sizeof(struct step));
	scene->steps[scene->n_steps++] =
		(struct step){.us = us, .io = (uint32_t)scene->n_ios, .act = act};
}

/* The steps that were added are those of @io. */
static void add_steps_of(struct scene *scene, struct io io)
{
	scene->ios = grown(scene->ios, scene->n_ios, &scene->ios_room, sizeof(struct io));
	scene->ios[scene->n_ios++] = io;
}

/* @wait_us: in the scheduler; @service_us: in the device. */
static void add_io(struct scene *scene, struct io io, double us, double wait_us, double service_us)
{
	us += start_us;
	add_step(scene, 'Q', us);
	add_step(scene, 'G', us + 0.7);
	add_step(scene, 'I', us + 1.5);
	add_step(scene, 'D', us + 1.5 + wait_us);
	add_step(scene, 'C', us + 1.5 + wait_us + service_us);
	add_steps_of(scene, io);
}

static void add_flush(struct scene *scene, struct io io, double us, double service_us)
{
	us += start_us;
	add_step(scene, 'Q', us);
	add_step(scene, 'G', us + 0.7);
	add_step(scene, 'D', us + 3);
	add_step(scene, 'C', us + 3 + service_us);
	add_steps_of(scene, io);
}

static void add_name(struct scene *scene, uint32_t pid, const char *comm)
{
	struct log_name *name = &scene->names[scene->n_names++];

	*name = (struct log_name){.time_ns = 1, .pid = pid};
	memcpy(name->comm, comm, strnlen(comm, sizeof(name->comm)));
}

static void add_drops(struct scene *scene, uint32_t device, uint32_t cpu, double from_us,
		      double to_us, uint64_t count)
{
	scene->drops[scene->n_drops++] = (struct log_drops){
		.device_index = device,
		.cpu = cpu,
		.from_ns = (uint64_t)(1e3 * (start_us + from_us)),
		.to_ns = (uint64_t)(1e3 * (start_us + to_us)),
		.count = count,
	};
}

static uint64_t place(struct scene *scene, double share_from, double share_to, uint64_t sectors)
{
	double share = share_from + (share_to - share_from) * dice(scene);

	return (uint64_t)(share * (double)sectors) & ~(uint64_t)7;
}

/* A fast disk: random reads, then a writer that goes through it, then both, then nothing. */
static void fast_disk(struct scene *scene)
{
	const uint64_t sectors = UINT64_C(1) << 31;
	uint64_t next = 1 << 20;

	for (double us = 0; us < 26e6; us += 80 + 20 * dice(scene)) {
		double stall = fmod(us, 7e6) < 2e5 ? 25 : 1;

		add_io(scene, (struct io){'R', 0, 4100, 4096, place(scene, 0, 0.8, sectors)}, us,
		       stall * latency(scene, 3), stall * latency(scene, 85));
	}
	for (double us = 24e6; us < 40e6; us += 330 + 40 * dice(scene), next += 256)
		add_io(scene, (struct io){'W', 0, 77, 131072, next}, us, latency(scene, 120),
		       latency(scene, 260));
	for (double us = 24.5e6; us < 40e6; us += 1e6)
		add_flush(scene, (struct io){'F', 0, 311, 0, 0}, us, latency(scene, 4000));
	for (double us = 44e6; us < 60e6; us += 70 + 30 * dice(scene)) {
		double swell = 1 + 3 * pow(sin(us / 3e6), 2);
		bool reads = dice(scene) < 0.7;
		uint64_t sector =
			reads ? place(scene, 0.2, 0.5, sectors) : place(scene, 0.45, 0.55, sectors);

		add_io(scene,
		       (struct io){reads ? 'R' : 'W', 0, 2000 + choose(scene, 24), 16384, sector},
		       us, latency(scene, 4 * swell), latency(scene, 70 * swell));
	}
}

/* A slow one, read from end to end. */
static void slow_disk(struct scene *scene)
{
	uint64_t next = 4096;

	for (double us = 1e6; us < 58e6; us += 6500 + 1500 * dice(scene), next += 2048)
		add_io(scene, (struct io){'R', 1, 900, 1 << 20, next}, us, latency(scene, 300),
		       latency(scene, 5200));
}

static void many(struct scene *scene)
{
	scene->n_devices = 2;
	fast_disk(scene);
	slow_disk(scene);
	add_name(scene, 4100, "fio");
	add_name(scene, 77, "kworker/u8:1");
	add_name(scene, 311, "jbd2/nvme0n1-8");
	add_name(scene, 900, "tar");
	for (uint32_t pid = 2000; pid < 2024; pid++)
		add_name(scene, pid, "postgres");
}

static void losses(struct scene *scene)
{
	scene->n_devices = 2;
	for (double us = 0; us < 60e6; us += 2500 + 500 * dice(scene)) {
		add_io(scene,
		       (struct io){dice(scene) < 0.6 ? 'R' : 'W', 0, 4100, 8192,
				   place(scene, 0, 1, 1 << 28)},
		       us, latency(scene, 10), latency(scene, 900));
		if (dice(scene) < 0.2)
			add_io(scene, (struct io){'R', 1, 4101, 4096, place(scene, 0, 1, 1 << 24)},
			       us, latency(scene, 10), latency(scene, 200));
	}
	add_drops(scene, 0, 0, 10e6, 14e6, 4711);
	add_drops(scene, 0, LOG_NO_CPU, 30e6, 30.05e6, 12);
	add_drops(scene, 0, 0, 45e6, 48e6, 999);
	add_name(scene, 4100, "dd");
	add_name(scene, 4101, "cat");
}

static void hostile(struct scene *scene)
{
	static const char *const names[] = {
		"</script><scrip",  "<img src=x>",	"'\"><b>x",
		"\x1b[31m\x07\x01", "\xff\xfe\xc0\x80", "a\xe2\x80\xa8 b\xe2\x80\xae",
		"<!--<script>",	    "\\u003c&lt;\t\n",
	};

	scene->n_devices = 1;
	for (uint32_t i = 0; i < 8; i++) {
		add_name(scene, 500 + i, names[i]);
		for (uint32_t k = 0; k < 20; k++)
			add_io(scene,
			       (struct io){k % 3 ? 'R' : 'W', 0, 500 + i, 4096, 8 * (i + 8 * k)},
			       1000 * (double)(i + 8 * k), 5, latency(scene, 100 + 50 * i));
	}
}

static void huge(struct scene *scene)
{
	static const char ops[] = {'R', 'W', 'R', 'W', 'D'};

	scene->n_devices = DEVICES_MAX;
	for (uint32_t i = 0; i < 200000; i++) {
		struct io io = {
			.op = ops[choose(scene, 5)],
			.device = i % DEVICES_MAX,
			.pid = 1000 + choose(scene, 3500),
			.bytes = 4096u << choose(scene, 9),
			.sector = place(scene, 0, 1, UINT64_C(1) << 33),
		};

		add_io(scene, io, 1000.0 * i / 4, latency(scene, 20), 20 * exp(9 * dice(scene)));
	}
	for (uint32_t i = 0; i < 3500; i++) {
		char comm[17];

		snprintf(comm, sizeof(comm), "<worker&%u>", i);
		add_name(scene, 1000 + i, comm);
	}
	for (uint32_t i = 0; i < 4000; i++)
		add_drops(scene, i % DEVICES_MAX, 0, 12e3 * i, 12e3 * i + 500, 1);
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return (x->us > y->us) - (x->us < y->us);
}

static const char *rwbs_of(char op, char act)
{
	if (op == 'F')
		return act == 'D' || act == 'C' ? "FN" : "FWS";
	return op == 'R' ? "R" : op == 'W' ? "WS" : "D";
}

/* A flush is nowhere. */
static uint64_t sector_of(const struct io *io, char act)
{
	if (io->op == 'F')
		return act == 'D' || act == 'C' ? 0 : UINT64_MAX;
	return io->sector;
}

/* Nothing that happened in a window of its device is in the log. */
static bool is_lost(const struct scene *scene, const struct step *step)
{
	double ns = 1e3 * step->us;

	for (size_t i = 0; scene->n_drops <= 16 && i < scene->n_drops; i++) {
		const struct log_drops *d = &scene->drops[i];

		if (d->device_index == scene->ios[step->io].device && ns >= (double)d->from_ns &&
		    ns <= (double)d->to_ns)
			return true;
	}
	return false;
}

static int write_events(struct scene *scene, struct log_writer *writer, struct why *why)
{
	uint32_t sequences[DEVICES_MAX][CPUS] = {0};
	struct trace traces[DEVICES_MAX] = {0};
	int r = 0;

	qsort(scene->steps, scene->n_steps, sizeof(struct step), by_time);
	for (size_t i = 0; i < scene->n_steps && r == 0; i++) {
		const struct step *step = &scene->steps[i];
		const struct io *io = &scene->ios[step->io];
		struct trace *trace = &traces[io->device];
		uint32_t cpu = step->io % CPUS;

		if (is_lost(scene, step))
			continue;
		TRACE(trace, .act = step->act, .rwbs = rwbs_of(io->op, step->act), .t = step->us,
		      .sector = sector_of(io, step->act), .bytes = io->bytes, .pid = io->pid,
		      .cpu = cpu, .sequence = ++sequences[io->device][cpu],
		      .device = 259u << 20 | io->device);
		if (trace->n >= FLUSH_BYTES) {
			r = log_writer_data(writer, io->device, trace->bytes, trace->n, why);
			trace->n = 0;
		}
	}
	for (uint32_t i = 0; i < scene->n_devices && r == 0; i++) {
		if (traces[i].n)
			r = log_writer_data(writer, i, traces[i].bytes, traces[i].n, why);
		trace_free(&traces[i]);
	}
	return r;
}

static int write_scene(struct scene *scene, struct log_writer *writer, struct why *why)
{
	struct log_device devices[DEVICES_MAX] = {0};
	struct log_channel channels[DEVICES_MAX] = {0};
	int r;

	for (uint32_t i = 0; i < scene->n_devices; i++) {
		devices[i] = (struct log_device){.index = i,
						 .device = 259u << 20 | i,
						 .protocol = 1,
						 .disk = 259u << 20 | i,
						 .sectors = UINT64_C(1) << 33};
		snprintf(devices[i].name, sizeof(devices[i].name), "nvme%un1", i);
		channels[i] = (struct log_channel){i, i, 0, LOG_RELAY_RECORDS};
	}
	r = log_writer_devices(writer, devices, scene->n_devices, why);
	if (r == 0)
		r = log_writer_channels(writer, channels, scene->n_devices, why);
	if (r == 0)
		r = log_writer_clock(writer, why);
	if (r == 0 && scene->n_names)
		r = log_writer_names(writer, scene->names, scene->n_names, why);
	if (r == 0)
		r = write_events(scene, writer, why);
	if (r == 0 && scene->n_drops)
		r = log_writer_drops(writer, scene->drops, scene->n_drops, why);
	return r == 0 ? log_writer_finish(writer, LOG_END_COMMAND, why) : r;
}

static void make(struct scene *scene, const char *kind)
{
	scene->n_devices = 1;
	if (!strcmp(kind, "one"))
		add_io(scene, (struct io){'R', 0, 42, 4096, 2048}, 0, 12, 107);
	else if (!strcmp(kind, "many"))
		many(scene);
	else if (!strcmp(kind, "losses"))
		losses(scene);
	else if (!strcmp(kind, "hostile"))
		hostile(scene);
	else if (!strcmp(kind, "huge"))
		huge(scene);
}

int main(int argc, char **argv)
{
	static struct scene scene = {.seed = 1};
	struct log_writer *writer = NULL;
	struct why why = {"cannot open"};
	int fd = argc == 3 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	int r = -1;

	if (fd >= 0)
		r = log_writer_create(fd, &(struct log_writer_options){.compress = true}, &writer,
				      &why);
	if (r == 0) {
		make(&scene, argv[1]);
		r = write_scene(&scene, writer, &why);
	}
	if (r < 0)
		fprintf(stderr, "make_scene: %s\n", why.text);
	log_writer_destroy(writer);
	free(scene.ios);
	free(scene.steps);
	return r < 0;
}
