/* SPDX-License-Identifier: MIT */
#include "input_private.h"

#include "escape.h"
#include "grow.h"

#include "blktrace.h"
#include "wire.h"

#include <byteswap.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int input_add_channel(struct input *input, const struct input_channel *channel, int fd)
{
	size_t n = input->n_channels;
	struct input_channel *channels;
	int *fds;

	channels = grow_list(input->channels, n, sizeof(*channels));
	if (channels)
		input->channels = channels;
	fds = grow_list(input->fds, n, sizeof(*fds));
	if (fds)
		input->fds = fds;
	if (!channels || !fds || !channel->name) {
		free(channel->name);
		close_keep_errno(fd);
		return -ENOMEM;
	}
	channels[n] = *channel;
	fds[n] = fd;
	input->n_channels = n + 1;
	return 0;
}

int input_add_foreign_device(struct input *input, const char *name, int fd)
{
	struct log_device *devices =
		reallocarray(input->devices, input->n_devices + 1, sizeof(*devices));
	uint8_t bytes[WIRE_HEAD_MAX + sizeof(uint64_t) + BT_MESSAGE_MAX];
	struct log_device *device;
	struct blkbox_event event;
	size_t size;
	ssize_t n;

	if (!devices)
		return -ENOMEM;
	input->devices = devices;
	device = &devices[input->n_devices];
	*device = (struct log_device){.index = (uint32_t)input->n_devices};
	escape_name(device->name, sizeof(device->name), name, LOG_NAME_BYTES);
	n = fd < 0 ? 0 : pread(fd, bytes, sizeof(bytes), 0);
	if (n > 0 && wire_decode(bytes, (size_t)n, &size, &event) == WIRE_OK) {
		device->device = device->disk = event.device;
		device->protocol = event.protocol;
	}
	input->n_devices++;
	return 0;
}

void input_close(struct input *input)
{
	if (!input)
		return;
	for (size_t i = 0; i < input->n_channels; i++) {
		free(input->channels[i].name);
		close_keep_errno(input->fds[i]);
	}
	free(input->channels);
	free(input->fds);
	free(input->devices);
	log_reader_close(input->log);
	free(input->name);
	free(input);
}

/* Is what starts with @bytes a run of records? Leading rubbish is for the decoder to step over. */
static int check_records(const char *name, const uint8_t *bytes, size_t n, struct why *why)
{
	size_t size;
	bool note;
	enum wire_status status = wire_measure(bytes, n, &size, &note);

	if (status == WIRE_OK || wire_resync(bytes, n, 0) < n)
		return 0;
	if (status == WIRE_BAD_VERSION)
		return why_set(why, -ENOTSUP,
			       "%s: the record at byte 0 is of blktrace protocol version %u; this "
			       "program knows %d and %d",
			       name, bytes[3] == 0x65 ? bytes[0] : bytes[3], BT_VERSION_1,
			       BT_VERSION_2);
	if (status == WIRE_SHORT && n >= sizeof(uint32_t))
		return 0;
	return why_set(why, -EBADMSG,
		       "%s is no recording: neither a blkbox log nor blktrace records are at its "
		       "start",
		       name);
}

int input_check_start(int fd, const char *name, struct why *why)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	ssize_t n;

	if (log_reader_probe(fd))
		return 0;
	bytes = malloc(INPUT_LOOK_BYTES);
	if (!bytes)
		return why_set(why, -ENOMEM, "no memory");
	n = pread(fd, bytes, INPUT_LOOK_BYTES, 0);
	if (n < 0)
		return why_errno(why, -errno, "cannot read %s", name);
	if (n == 0)
		return why_set(why, -EBADMSG, "%s is empty: that is no recording", name);
	return check_records(name, bytes, (size_t)n, why);
}

static int open_stream(struct input *input, int fd, struct why *why)
{
	struct input_channel channel = {
		.name = strdup(input->name),
		.device_index = LOG_NO_CHANNEL,
		.cpu = LOG_NO_CPU,
		.kind = LOG_RELAY_RECORDS,
	};
	struct stat st;
	int r;

	input->kind = INPUT_STREAM;
	if (fstat(fd, &st) == 0)
		channel.size_bytes = (uint64_t)st.st_size;
	r = input_add_channel(input, &channel, fd);
	return r < 0 ? why_set(why, r, "no memory") : 0;
}

/* A regular file that is at @fd, adopted: which kind is it? */
static int open_file(struct input *input, const char *path, int fd, struct why *why)
{
	_cleanup_close_ int own_fd = fd;
	_cleanup_free_ char *base = path ? input_set_base(path) : NULL;
	int r;

	if (log_reader_probe(own_fd))
		return input_open_log(input, take_fd(&own_fd), why);
	/* What is damaged in one file of a set is no reason to refuse the others. */
	if (base)
		return input_open_set(input, base, why);
	r = input_check_start(own_fd, input->name, why);
	if (r < 0)
		return r;
	return open_stream(input, take_fd(&own_fd), why);
}

static int open_base(struct input *input, const char *path, int error, struct why *why)
{
	if (error == -ENOENT)
		return input_open_set(input, path, why);
	return why_errno(why, error, "cannot open %s", path);
}

static int open_any(struct input *input, const char *path, struct why *why)
{
	bool is_stdin = !strcmp(path, "-");
	_cleanup_close_ int fd = -1;
	int r;

	if (!*path)
		return why_set(why, -ENOENT, "the name of the recording is empty");
	/* O_NONBLOCK would make an unconnected FIFO look empty; a device never blocks on open. */
	fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && is_stdin)
		return why_errno(why, -errno, "cannot read standard input");
	if (fd < 0)
		return open_base(input, path, -errno, why);
	if (fstat(fd, &input->st) < 0)
		return why_errno(why, -errno, "cannot stat %s", input->name);
	if (S_ISDIR(input->st.st_mode))
		return why_set(why, -EISDIR,
			       "%s is a directory; name a log, or the base name of a blktrace set",
			       path);
	if (S_ISBLK(input->st.st_mode))
		return why_set(why, -EBADMSG,
			       "%s is a block device, not a recording; 'blkbox record' traces it",
			       path);
	if (!S_ISREG(input->st.st_mode) || (is_stdin && lseek(fd, 0, SEEK_CUR) != 0)) {
		int spool;

		r = input_spool(fd, input->name, &spool, why);
		return r < 0 ? r : open_file(input, NULL, spool, why);
	}
	return open_file(input, is_stdin ? NULL : path, take_fd(&fd), why);
}

int input_open(const char *path, struct input **ret, struct why *why)
{
	_cleanup_(cleanup_input_close) struct input *input = calloc(1, sizeof(*input));
	int r;

	if (!input)
		return why_set(why, -ENOMEM, "no memory");
	input->name = strdup(strcmp(path, "-") ? path : "standard input");
	if (!input->name)
		return why_set(why, -ENOMEM, "no memory");
	r = open_any(input, path, why);
	if (r < 0)
		return r;
	*ret = take_ptr(input);
	return 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool input_reads(const struct input *input, const char *path)
{
	struct stat st, other;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	for (size_t i = 0; input->kind == INPUT_SET && i < input->n_channels; i++) {
		if (fstat(input->fds[i], &other) == 0 && is_same_file(&st, &other))
			return true;
	}
	return input->kind != INPUT_SET && is_same_file(&st, &input->st);
}

bool input_is_same(const struct input *a, const struct input *b)
{
	struct stat x = a->st, y = b->st;

	if (a->kind != b->kind)
		return false;
	if (a->kind == INPUT_SET && (fstat(a->fds[0], &x) < 0 || fstat(b->fds[0], &y) < 0))
		return false;
	return S_ISREG(x.st_mode) && is_same_file(&x, &y);
}

enum input_kind input_kind(const struct input *input)
{
	return input->kind;
}

const char *input_name(const struct input *input)
{
	return input->name;
}

size_t input_channels(const struct input *input, const struct input_channel **ret)
{
	*ret = input->channels;
	return input->n_channels;
}

size_t input_devices(const struct input *input, const struct log_device **ret)
{
	*ret = input->devices;
	return input->n_devices;
}

struct log_reader *input_log(const struct input *input)
{
	return input->log;
}

int input_source(struct input *input, size_t channel, struct source **ret, struct why *why)
{
	const struct input_channel *c = &input->channels[channel];
	int r;

	if (input->kind == INPUT_LOG)
		return input_log_source(input, channel, ret, why);
	r = source_file_create(input->fds[channel], c->name, 0, ret);
	return r < 0 ? why_errno(why, r, "cannot read %s", c->name) : 0;
}
