/* SPDX-License-Identifier: MIT */
/*
 * What the guardian of a relay recording does, and what it has to know for that.
 */
#include "relay_parts.h"

#include "blktrace.h"
#include "cleanup.h"
#include "leftover.h"
#include "state.h"

#include <sys/mman.h>

/* Is the trace that is there by now the one that we made? What cannot be known is believed. */
static bool is_the_same(const struct relay_source *relay, size_t i)
{
	const struct trace_source *source = &relay->source;
	uint64_t ours = relay->shared[i].inode, now;
	int r;

	if (relay->shared[i].owner == RELAY_NOT_OURS)
		return false;
	r = leftover_trace_inode(source->root, source->kernel, relay->debugfs, &source->devices[i],
				 &now);
	/* Without files, it may be half made: the calls do no harm where there is none. */
	if (r < 0)
		return r != -ENOENT || !ours;
	return !ours || now == ours;
}

/* In the guardian, when the recorder is dead. */
static void restore(void *context)
{
	struct relay_source *relay = context;
	const struct trace_source *source = &relay->source;
	const struct kernel_ops *kernel = source->kernel;
	_cleanup_(leftovers_deinit) struct leftovers left = {0};

	for (size_t i = 0; i < source->n_devices; i++) {
		int fd = relay->devices[i].fd;

		if (is_the_same(relay, i)) {
			leftovers_take_relay(source->root, kernel, relay->debugfs,
					     &source->devices[i], fd, &left);
			kernel->ioctl(kernel->context, fd, BT_IOC_TEARDOWN, NULL);
		}
		state_remove_dead(source->root, source->devices[i].disk);
	}
	/* Last: a disk that hangs does not keep the traces. */
	if (source->rescue)
		leftovers_finish_log(&left, source->rescue, NULL);
}

int relay_start_guardian(struct relay_source *relay, struct why *why)
{
	struct trace_source *source = &relay->source;
	size_t n = source->n_devices;
	_cleanup_free_ int *keep = calloc(n + 1, sizeof(*keep));

	if (!keep)
		return why_errno(why, -ENOMEM, "cannot start the guardian process");
	for (size_t i = 0; i < n; i++)
		keep[i] = relay->devices[i].fd;
	return trace_source_guard(source, restore, keep, n, why);
}

int relay_share_with_guardian(struct relay_source *relay, struct why *why)
{
	void *shared = mmap(NULL, relay->source.n_devices * sizeof(*relay->shared),
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return why_errno(why, -errno, "cannot start the guardian process");
	relay->shared = shared;
	return 0;
}

void relay_keep_guarded(struct relay_source *relay)
{
	struct why why = {""};

	if (trace_source_lost_guardian(&relay->source))
		trace_source_guarded_again(&relay->source, relay_start_guardian(relay, &why), &why);
}
