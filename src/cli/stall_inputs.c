/* SPDX-License-Identifier: MIT */
#include "stall_inputs.h"

#include "grow.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	READ_BYTES = 64 << 10,
	ROTATED_MAX = 10000,
	FOUND = 1, /* the first row, which is all that was asked for */
};

static int add(struct stall_inputs *inputs, const char *path, bool follows)
{
	struct stall_input *items = grow_list(inputs->items, inputs->n, sizeof(*items));
	char *copy = strdup(path);

	if (items)
		inputs->items = items;
	if (!items || !copy) {
		free(copy);
		return -ENOMEM;
	}
	items[inputs->n++] = (struct stall_input){.path = copy, .follows = follows};
	return 0;
}

static bool has(const struct stall_inputs *inputs, const char *path)
{
	struct stat one, other;

	if (!strcmp(path, "-") || stat(path, &one) < 0)
		return false;
	for (size_t i = 0; i < inputs->n; i++) {
		if (stat(inputs->items[i].path, &other) == 0 && one.st_dev == other.st_dev &&
		    one.st_ino == other.st_ino && S_ISREG(one.st_mode))
			return true;
	}
	return false;
}

/* @path, and in front of it what was rotated away. */
static int add_set(struct stall_inputs *inputs, const char *path)
{
	unsigned n = 0;
	bool follows = false;
	int r = 0;

	for (;;) {
		_cleanup_free_ char *older = NULL;

		if (asprintf(&older, "%s.%u", path, n + 1) < 0)
			return -ENOMEM;
		if (n == ROTATED_MAX || !strcmp(path, "-") || access(older, F_OK) < 0)
			break;
		n++;
	}
	for (; n > 0 && r == 0; n--) {
		_cleanup_free_ char *older = NULL;

		if (asprintf(&older, "%s.%u", path, n) < 0)
			return -ENOMEM;
		if (!has(inputs, older)) {
			r = add(inputs, older, follows);
			follows = true;
		}
	}
	return r < 0 || has(inputs, path) ? r : add(inputs, path, follows);
}

/* A row of the first file of a set: when the set begins. */
static int take_first(void *context, const struct stall_row *row)
{
	*(uint64_t *)context = row->has_wall ? row->wall_ns : row->mono_ns;
	return FOUND;
}

struct set {
	uint64_t first_ns;
	size_t at, n;
};

static int by_time(const void *a, const void *b)
{
	const struct set *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* Standard input, and what cannot be read twice, stay where they are: at the end. */
static uint64_t first_time(struct stall_input *input)
{
	uint64_t ns = UINT64_MAX;
	struct stat st;

	if (strcmp(input->path, "-") != 0 && stat(input->path, &st) == 0 && S_ISREG(st.st_mode))
		stall_input_read(input, take_first, &ns, NULL);
	input->health = (struct stall_csv_health){0};
	return ns;
}

static int sort(struct stall_inputs *inputs)
{
	_cleanup_free_ struct set *sets = calloc(inputs->n, sizeof(*sets));
	struct stall_input *sorted = calloc(inputs->n, sizeof(*sorted));
	size_t n = 0, filled = 0;

	if (!sets || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < inputs->n; i++) {
		if (!inputs->items[i].follows)
			sets[n++] = (struct set){first_time(&inputs->items[i]), i, 0};
		sets[n - 1].n++;
	}
	qsort(sets, n, sizeof(*sets), by_time);
	for (size_t i = 0; i < n; i++) {
		memcpy(sorted + filled, inputs->items + sets[i].at, sets[i].n * sizeof(*sorted));
		filled += sets[i].n;
	}
	free(inputs->items);
	inputs->items = sorted;
	return 0;
}

int stall_inputs_init(struct stall_inputs *inputs, char *const *paths, size_t n)
{
	int r = 0;

	*inputs = (struct stall_inputs){0};
	for (size_t i = 0; i < n && r == 0; i++)
		r = add_set(inputs, paths[i]);
	if (r == 0 && inputs->n > 1)
		r = sort(inputs);
	if (r < 0)
		stall_inputs_deinit(inputs);
	return r;
}

void stall_inputs_deinit(struct stall_inputs *inputs)
{
	for (size_t i = 0; i < inputs->n; i++)
		free(inputs->items[i].path);
	free(inputs->items);
	*inputs = (struct stall_inputs){0};
}

static const char *name_of(const struct stall_input *input)
{
	return strcmp(input->path, "-") ? input->path : "standard input";
}

/* What stall_csv_feed() and stall_csv_finish() say, as a sentence. */
static int explain(const struct stall_input *input, int r, struct why *why)
{
	if (r == -EBADMSG)
		return why_set(why, r,
			       "%s does not start with a header that names mono, proc and pid: "
			       "these are no samples of 'blkbox stall'",
			       name_of(input));
	if (r == -ENODATA)
		return why_set(why, r, "%s is empty", name_of(input));
	if (r == -ENOMEM)
		return why_set(why, r, "no memory");
	return r;
}

static int feed(struct stall_csv *csv, int fd, const struct stall_input *input, struct why *why)
{
	_cleanup_free_ char *bytes = malloc(READ_BYTES);
	int r = bytes ? 0 : -ENOMEM;

	while (r == 0) {
		ssize_t n = read(fd, bytes, READ_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return why_errno(why, -errno, "cannot read %s", name_of(input));
		if (!n)
			return explain(input, stall_csv_finish(csv), why);
		r = stall_csv_feed(csv, bytes, (size_t)n);
	}
	return explain(input, r, why);
}

int stall_input_read(struct stall_input *input, stall_csv_row row, void *context, struct why *why)
{
	_cleanup_(cleanup_stall_csv_destroy) struct stall_csv *csv = NULL;
	_cleanup_close_ int opened = -1;
	int fd = STDIN_FILENO, r;

	if (strcmp(input->path, "-") != 0) {
		opened = fd = open(input->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return why_errno(why, -errno, "cannot open %s", input->path);
	}
	if (stall_csv_create(row, context, &csv) < 0)
		return why_set(why, -ENOMEM, "no memory");
	r = feed(csv, fd, input, why);
	input->health = *stall_csv_health(csv);
	return r;
}
