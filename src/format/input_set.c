/* SPDX-License-Identifier: MIT */
#include "input_private.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char suffix[] = ".blktrace.";

/* The CPU in "NAME.blktrace.CPU" behind @name_bytes of the name; false if it is no such file. */
static bool parse_suffix(const char *behind_name, uint32_t *ret_cpu)
{
	unsigned long cpu;
	char *end;

	if (strncmp(behind_name, suffix, strlen(suffix)) != 0)
		return false;
	behind_name += strlen(suffix);
	if (!isdigit((unsigned char)*behind_name))
		return false;
	errno = 0;
	cpu = strtoul(behind_name, &end, 10);
	if (*end || errno || cpu >= LOG_NO_CPU)
		return false;
	*ret_cpu = (uint32_t)cpu;
	return true;
}

bool input_set_parse(const char *path, size_t *ret_base_bytes, uint32_t *ret_cpu)
{
	const char *file = strrchr(path, '/');
	const char *at = NULL;

	file = file ? file + 1 : path;
	/* The last one: a name may have it twice. */
	for (const char *s = file; (s = strstr(s, suffix)); s++)
		at = s;
	/* Without a name in front it is a file by itself. */
	if (!at || at == file || !parse_suffix(at, ret_cpu))
		return false;
	*ret_base_bytes = (size_t)(at - path);
	return true;
}

char *input_set_base(const char *path)
{
	size_t n;
	uint32_t cpu;

	return input_set_parse(path, &n, &cpu) ? strndup(path, n) : NULL;
}

static int add_file(struct input *input, int dir_fd, const char *dir, const char *file,
		    uint32_t cpu, struct why *why)
{
	_cleanup_close_ int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct input_channel channel = {.cpu = cpu, .kind = LOG_RELAY_RECORDS};
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return why_errno(why, -errno, "cannot open %s%s", dir, file);
	if (!S_ISREG(st.st_mode))
		return why_set(why, -EBADMSG, "%s%s is not a regular file", dir, file);
	channel.size_bytes = (uint64_t)st.st_size;
	if (asprintf(&channel.name, "%s%s", dir, file) < 0)
		channel.name = NULL;
	r = input_add_channel(input, &channel, take_fd(&fd));
	return r < 0 ? why_set(why, r, "no memory") : 0;
}

static int by_cpu(const void *a, const void *b, void *context)
{
	const struct input *input = context;
	uint32_t cpu_a = input->channels[*(const size_t *)a].cpu;
	uint32_t cpu_b = input->channels[*(const size_t *)b].cpu;

	return (cpu_a > cpu_b) - (cpu_a < cpu_b);
}

/* The directory's order is nobody's; messages and ties want the CPUs'. */
static int sort_channels(struct input *input)
{
	size_t n = input->n_channels;
	_cleanup_free_ size_t *order = calloc(n, sizeof(*order));
	struct input_channel *channels = calloc(n, sizeof(*channels));
	int *fds = calloc(n, sizeof(*fds));

	if (!order || !channels || !fds) {
		free(channels);
		free(fds);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_cpu, input);
	for (size_t i = 0; i < n; i++) {
		channels[i] = input->channels[order[i]];
		fds[i] = input->fds[order[i]];
	}
	free(input->channels);
	free(input->fds);
	input->channels = channels;
	input->fds = fds;
	return 0;
}

static int add_device(struct input *input, const char *name)
{
	size_t first = 0;

	while (first + 1 < input->n_channels && !input->channels[first].size_bytes)
		first++;
	return input_add_foreign_device(input, name, input->fds[first]);
}

static int no_set(const char *base, struct why *why)
{
	return why_set(why, -ENOENT, "there is no %s, and no %s.blktrace.CPU either", base, base);
}

int input_open_set(struct input *input, const char *base, struct why *why)
{
	const char *slash = strrchr(base, '/');
	const char *name = slash ? slash + 1 : base;
	_cleanup_free_ char *dir = strndup(base, (size_t)(name - base));
	_cleanup_closedir_ DIR *listing = NULL;
	struct dirent *entry;
	int r;

	if (!dir)
		return why_set(why, -ENOMEM, "no memory");
	listing = opendir(*dir ? dir : ".");
	if (!listing && errno != ENOENT)
		return why_errno(why, -errno, "cannot look for %s.blktrace.CPU", base);
	if (!listing || !*name)
		return no_set(base, why);
	input->kind = INPUT_SET;
	while ((entry = readdir(listing))) {
		uint32_t cpu;

		if (strncmp(entry->d_name, name, strlen(name)) != 0 ||
		    !parse_suffix(entry->d_name + strlen(name), &cpu))
			continue;
		r = add_file(input, dirfd(listing), dir, entry->d_name, cpu, why);
		if (r < 0)
			return r;
	}
	if (!input->n_channels)
		return no_set(base, why);
	r = sort_channels(input);
	if (r == 0)
		r = add_device(input, name);
	return r < 0 ? why_set(why, r, "no memory") : 0;
}
