/* SPDX-License-Identifier: MIT */
#include "ctf.h"

#include "ctf_metadata.h"
#include "ctf_stream.h"
#include "output.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

struct lane_key {
	uint32_t tag;
	uint32_t cpu;
};

/* A CPU of a recording, with its stream. */
struct lane {
	struct lane_key key;
	struct ctf_stream *stream;
	size_t next_loss;	/* in the recording's list */
	uint64_t window_end_ns; /* of the loss that the packet in the works tells; 0 = none */
	UT_hash_handle hh;
};

struct ctf_sink {
	struct sink sink;
	const struct scene *scene;
	const struct recording *recording;
	struct lane *lanes;
	char *path;
	char *part;
	bool force;
	bool is_finished;
	int dir_fd;
};

/* What a trace of ours is made of, spelt exactly as we spell it. */
static bool is_trace_file(int dir_fd, const char *name)
{
	char spelt[64] = "metadata";
	unsigned cpu, tag;
	struct stat st;
	int n = sscanf(name, "cpu_%u_of_%u", &cpu, &tag);

	if (n > 0)
		snprintf(spelt, sizeof(spelt), n == 2 ? "cpu_%u_of_%u" : "cpu_%u", cpu, tag);
	return !strcmp(name, spelt) && fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* 0 = there is nothing; 1 = a CTF trace, or an empty folder, whose entries are in @ret. */
static int open_trace(const char *path, DIR **ret, struct why *why)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = NULL;
	bool has_metadata = false, has_files = false;
	struct dirent *entry;

	if (fd < 0)
		return errno == ENOENT ? 0 : why_errno(why, -errno, "cannot replace %s", path);
	dir = fdopendir(fd);
	if (!dir)
		return why_errno(why, -errno, "cannot read %s", path);
	take_fd(&fd);
	while ((entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		if (!is_trace_file(dirfd(dir), entry->d_name))
			return why_set(
				why, -EEXIST,
				"%s is not replaced: %s in it is not of a CTF trace by blkbox",
				path, entry->d_name);
		has_files = true;
		has_metadata = has_metadata || !strcmp(entry->d_name, "metadata");
	}
	if (has_files && !has_metadata)
		return why_set(why, -EEXIST, "%s exists and is no CTF trace", path);
	rewinddir(dir);
	*ret = take_ptr(dir);
	return 1;
}

static int check_replaceable(const char *path, struct why *why)
{
	_cleanup_closedir_ DIR *dir = NULL;
	int r = open_trace(path, &dir, why);

	return r < 0 ? r : 0;
}

/* Removes a CTF trace and nothing else. */
static int remove_trace(const char *path, struct why *why)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	int r = open_trace(path, &dir, why);

	if (r <= 0)
		return r;
	while ((entry = readdir(dir))) {
		if (!is_dots(entry->d_name) && unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			return why_errno(why, -errno, "cannot remove %s/%s", path, entry->d_name);
	}
	return rmdir(path) < 0 ? why_errno(why, -errno, "cannot remove %s", path) : 0;
}

static int make_folder(struct ctf_sink *ctf, struct why *why)
{
	int r = 0;

	if (!ctf->force && faccessat(AT_FDCWD, ctf->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return why_set(why, -EEXIST, "%s exists; --force overwrites it", ctf->path);
	/* Now, not after hours of work. */
	if (ctf->force)
		r = check_replaceable(ctf->path, why);
	if (r == 0 && ctf->force)
		r = remove_trace(ctf->part, why);
	if (r < 0)
		return r;
	if (mkdir(ctf->part, 0700) < 0)
		return why_errno(why, -errno, "cannot create %s", ctf->part);
	ctf->dir_fd = open(ctf->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (ctf->dir_fd < 0)
		return why_errno(why, -errno, "cannot open %s", ctf->part);
	output_give_to_user(ctf->dir_fd);
	return 0;
}

static int write_metadata(const struct ctf_sink *ctf, struct why *why)
{
	_cleanup_close_ int fd =
		openat(ctf->dir_fd, "metadata", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	_cleanup_(out_deinit) struct out out = {0};
	int r;

	if (fd < 0)
		return why_errno(why, -errno, "cannot create %s/metadata", ctf->part);
	output_give_to_user(fd);
	if (out_init(&out, fd, OUT_ROOM_MAX) < 0)
		return why_set(why, -ENOMEM, "no memory");
	ctf_metadata(&out, ctf->recording);
	r = out_flush(&out);
	return r < 0 ? why_errno(why, r, "cannot write %s/metadata", ctf->part) : 0;
}

static int find_lane(struct ctf_sink *ctf, uint32_t tag, uint32_t cpu, struct lane **ret,
		     struct why *why)
{
	struct lane_key key = {tag, cpu};
	struct lane *lane;
	int r;

	HASH_FIND(hh, ctf->lanes, &key, sizeof(key), lane);
	if (!lane) {
		lane = calloc(1, sizeof(*lane));
		if (!lane)
			return why_set(why, -ENOMEM, "no memory");
		lane->key = key;
		r = ctf_stream_create(ctf->dir_fd, tag, cpu, &lane->stream, why);
		if (r < 0) {
			free(lane);
			return r;
		}
		HASH_ADD(hh, ctf->lanes, key, sizeof(lane->key), lane);
	}
	*ret = lane;
	return 0;
}

/* Losses that the kernel tells for a device as a whole stand in the stream of CPU 0. */
static bool is_lanes(const struct recording_loss *loss, const struct lane_key *key)
{
	uint32_t cpu = loss->cpu == LOG_NO_CPU ? 0 : loss->cpu;

	return loss->tag == key->tag && cpu == key->cpu;
}

static int end_window(struct lane *lane, struct why *why)
{
	uint64_t end_ns = lane->window_end_ns;

	lane->window_end_ns = 0;
	return ctf_stream_cut_at(lane->stream, end_ns, why);
}

static int tell_loss(struct lane *lane, const struct recording_loss *loss, struct why *why)
{
	uint64_t to_ns = loss->to_ns > loss->from_ns ? loss->to_ns : loss->from_ns;
	int r = 0;

	/* Windows that overlap are one packet's: it has one count. */
	if (lane->window_end_ns && loss->from_ns <= lane->window_end_ns) {
		if (to_ns > lane->window_end_ns)
			lane->window_end_ns = to_ns;
		return ctf_stream_lost_more(lane->stream, loss->count, why);
	}
	if (lane->window_end_ns)
		r = end_window(lane, why);
	if (r == 0)
		r = ctf_stream_lost(lane->stream, loss->from_ns, loss->count, why);
	lane->window_end_ns = to_ns;
	return r;
}

/* Tells the losses of the lane's CPU that began up to @time_ns. */
static int tell_losses(struct ctf_sink *ctf, struct lane *lane, uint64_t time_ns, struct why *why)
{
	const struct recording_loss *losses;
	size_t n = recording_losses(ctf->recording, &losses);
	int r = 0;

	for (; r == 0 && lane->next_loss < n; lane->next_loss++) {
		const struct recording_loss *loss = &losses[lane->next_loss];

		if (!is_lanes(loss, &lane->key) || !scene_shows_loss(ctf->scene, loss))
			continue;
		if (loss->from_ns > time_ns)
			break;
		r = tell_loss(lane, loss, why);
	}
	if (r == 0 && lane->window_end_ns && time_ns > lane->window_end_ns)
		r = end_window(lane, why);
	return r;
}

static int ctf_event(struct sink *sink, const struct merge_item *item, struct why *why)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	struct lane *lane;
	int r = find_lane(ctf, item->tag, item->event.cpu, &lane, why);

	if (r == 0)
		r = tell_losses(ctf, lane, item->event.time_ns, why);
	return r < 0 ? r : ctf_stream_event(lane->stream, item, ctf->scene, why);
}

/* Losses on CPUs without any event have no stream yet. */
static int make_lanes_of_losses(struct ctf_sink *ctf, struct why *why)
{
	const struct recording_loss *losses;
	size_t n = recording_losses(ctf->recording, &losses);
	struct lane *lane;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		if (scene_shows_loss(ctf->scene, &losses[i]))
			r = find_lane(ctf, losses[i].tag,
				      losses[i].cpu == LOG_NO_CPU ? 0 : losses[i].cpu, &lane, why);
	}
	return r;
}

static int ctf_finish(struct sink *sink, struct why *why)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	struct lane *lane, *next;
	int r = make_lanes_of_losses(ctf, why);

	HASH_ITER (hh, ctf->lanes, lane, next) {
		if (r == 0)
			r = tell_losses(ctf, lane, UINT64_MAX, why);
		if (r == 0)
			r = ctf_stream_finish(lane->stream, why);
	}
	if (r == 0 && ctf->force)
		r = remove_trace(ctf->path, why);
	if (r < 0)
		return r;
	if (renameat2(AT_FDCWD, ctf->part, AT_FDCWD, ctf->path, RENAME_NOREPLACE) < 0 &&
	    (errno != EINVAL || rename(ctf->part, ctf->path) < 0))
		return why_errno(why, -errno, "cannot rename %s to %s", ctf->part, ctf->path);
	ctf->is_finished = true;
	return 0;
}

static void ctf_destroy(struct sink *sink)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	struct lane *lane, *next;

	HASH_ITER (hh, ctf->lanes, lane, next) {
		HASH_DEL(ctf->lanes, lane);
		ctf_stream_destroy(lane->stream);
		free(lane);
	}
	if (ctf->dir_fd >= 0 && !ctf->is_finished)
		remove_trace(ctf->part, NULL);
	close_keep_errno(ctf->dir_fd);
	free(ctf->path);
	free(ctf->part);
	free(ctf);
}

static const struct sink_ops ctf_ops = {
	.event = ctf_event,
	.finish = ctf_finish,
	.destroy = ctf_destroy,
};

int ctf_sink_create(const char *path, bool force, const struct scene *scene,
		    const struct recording *recording, struct sink **ret, struct why *why)
{
	struct ctf_sink *ctf = calloc(1, sizeof(*ctf));
	size_t n = strlen(path);
	int r;

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (!ctf)
		return why_set(why, -ENOMEM, "no memory");
	ctf->sink.ops = &ctf_ops;
	ctf->dir_fd = -1;
	ctf->force = force;
	ctf->scene = scene;
	ctf->recording = recording;
	ctf->path = strndup(path, n);
	if (!ctf->path || asprintf(&ctf->part, "%.*s.part", (int)n, path) < 0)
		r = why_set(why, -ENOMEM, "no memory");
	else
		r = make_folder(ctf, why);
	if (r == 0)
		r = write_metadata(ctf, why);
	if (r < 0) {
		ctf_destroy(&ctf->sink);
		return r;
	}
	*ret = &ctf->sink;
	return 0;
}
