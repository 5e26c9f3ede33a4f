/* SPDX-License-Identifier: MIT */
#include "budget.h"

#include "number.h"

#include <string.h>
#include <sys/resource.h>

enum {
	SUB_BUFFER_MIN_BYTES = 4096, /* a record that is larger is lost, and nobody counts it */
	SUB_BUFFER_BYTES = 256 << 10,
	SUB_BUFFERS_MIN = 2,	  /* one is read while the other is filled */
	SUB_BUFFERS_MAX = 524288, /* the kernel's */
	CHANNEL_BYTES = 32 << 20,
	RING_BYTES = 4 << 20,
	RING_MIN_BYTES = 64 << 10,
	DEFAULT_PERCENT = 5,
	LIMIT_PERCENT = 50, /* beyond it only by force */
};

/* Of one channel. A count of 0: not decided yet. */
struct plan {
	uint64_t sub_buffer_bytes, sub_buffers, ring_bytes;
};

static int check_request(const struct budget_request *request, struct why *why)
{
	uint64_t bytes = request->sub_buffer_bytes, count = request->sub_buffers, product;

	if (bytes && bytes < SUB_BUFFER_MIN_BYTES)
		return why_set(why, -EINVAL,
			       "sub-buffers of %s are too small: the kernel loses events that do "
			       "not fit in one, without counting them; at least %d bytes",
			       size_format(bytes).text, SUB_BUFFER_MIN_BYTES);
	if (count && count < SUB_BUFFERS_MIN)
		return why_set(why, -EINVAL,
			       "one sub-buffer is too few: while it is read, events are lost; at "
			       "least %d",
			       SUB_BUFFERS_MIN);
	if (count > SUB_BUFFERS_MAX)
		return why_set(why, -EINVAL,
			       "%llu sub-buffers are more than the kernel can do; at most %d",
			       (unsigned long long)count, SUB_BUFFERS_MAX);
	if (__builtin_mul_overflow(bytes, count ? count : SUB_BUFFERS_MIN, &product) ||
	    product > UINT32_MAX)
		return why_set(why, -EINVAL,
			       "%llu sub-buffers of %s are more than the kernel can do; less than "
			       "4 GiB for each CPU",
			       (unsigned long long)(count ? count : SUB_BUFFERS_MIN),
			       size_format(bytes).text);
	return 0;
}

static uint64_t power_of_two_below(uint64_t n)
{
	return n ? 1ull << (63 - __builtin_clzll(n)) : 0;
}

static uint64_t clamp(uint64_t n, uint64_t low, uint64_t high)
{
	return n < low ? low : n > high ? high : n;
}

/* @share_bytes: what one channel may have. */
static struct plan choose(const struct budget_request *request, uint64_t share_bytes)
{
	struct plan plan = {
		.sub_buffer_bytes = request->sub_buffer_bytes,
		.sub_buffers = request->sub_buffers,
		.ring_bytes = request->ring_bytes,
	};
	uint64_t kernel_bytes;

	if (!plan.ring_bytes)
		plan.ring_bytes =
			clamp(power_of_two_below(share_bytes / 8), RING_MIN_BYTES, RING_BYTES);
	kernel_bytes = share_bytes > plan.ring_bytes ? share_bytes - plan.ring_bytes : 0;
	kernel_bytes = clamp(kernel_bytes, 0, CHANNEL_BYTES);
	if (!plan.sub_buffer_bytes) {
		/* Small sub-buffers finish sooner, but many are better than large ones. */
		uint64_t count = plan.sub_buffers ? plan.sub_buffers : 4;

		plan.sub_buffer_bytes = clamp(power_of_two_below(kernel_bytes / count),
					      SUB_BUFFER_MIN_BYTES, SUB_BUFFER_BYTES);
	}
	if (!plan.sub_buffers)
		plan.sub_buffers = clamp(kernel_bytes / plan.sub_buffer_bytes, SUB_BUFFERS_MIN,
					 SUB_BUFFERS_MAX);
	return plan;
}

/* UINT64_MAX if it is more than can be said. */
static uint64_t total_of(const struct plan *plan, uint64_t channels)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t kernel_bytes = plan->sub_buffer_bytes * plan->sub_buffers, total;

	kernel_bytes = (kernel_bytes + page - 1) / page * page;
	if (__builtin_add_overflow(kernel_bytes, plan->ring_bytes, &total) ||
	    __builtin_mul_overflow(total, channels, &total))
		return UINT64_MAX;
	return total;
}

static int say_too_much(const struct budget_request *request, const struct plan *plan,
			uint64_t total, struct why *why)
{
	return why_set(
		why, -ENOMEM,
		"the buffers would take %s of memory (%llu sub-buffers of %s and a ring of %s "
		"for each of %zu CPUs and %zu devices), and %s are available; make them "
		"smaller, or insist with --force",
		size_format(total).text, (unsigned long long)plan->sub_buffers,
		size_format(plan->sub_buffer_bytes).text, size_format(plan->ring_bytes).text,
		request->cpus, request->devices, size_format(request->available_bytes).text);
}

int budget_plan(const struct budget_request *request, struct budget *ret, struct why *why)
{
	uint64_t channels, total;
	struct plan plan;
	int r = check_request(request, why);

	if (r < 0)
		return r;
	if (__builtin_mul_overflow((uint64_t)request->cpus, request->devices, &channels) ||
	    !channels)
		return why_set(why, -EINVAL, "there is nothing to record: no CPU or no device");
	plan = choose(request, request->available_bytes / 100 * DEFAULT_PERCENT / channels);
	total = total_of(&plan, channels);
	if (total > request->available_bytes / 100 * LIMIT_PERCENT && !request->force)
		return say_too_much(request, &plan, total, why);
	ret->sub_buffer_bytes = (uint32_t)plan.sub_buffer_bytes;
	ret->sub_buffers = (uint32_t)plan.sub_buffers;
	ret->ring_bytes = (size_t)plan.ring_bytes;
	ret->total_bytes = total;
	return 0;
}

int memory_available(const struct sysroot *root, uint64_t *ret_bytes, struct why *why)
{
	char text[8192];
	unsigned long long kib;
	const char *line;
	int r = sysroot_read(root, text, sizeof(text), "/proc/meminfo");

	if (r < 0)
		return why_errno(why, r, "cannot read /proc/meminfo");
	line = strstr(text, "\nMemAvailable:");
	if (!line || sscanf(line, "\nMemAvailable: %llu kB", &kib) != 1)
		return why_set(why, -EINVAL, "/proc/meminfo does not say how much is available");
	*ret_bytes = (uint64_t)kib << 10;
	return 0;
}

int descriptors_reserve(size_t needed, struct why *why)
{
	struct rlimit limit;
	rlim_t hard;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return why_errno(why, -errno, "cannot read the limit of open files");
	if (limit.rlim_cur >= needed)
		return 0;
	hard = limit.rlim_max;
	limit.rlim_cur = needed;
	if (hard < needed)
		limit.rlim_max = needed;
	if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return 0;
	return why_set(why, -EMFILE,
		       "%zu files must be open at a time, and the limit is %llu; raise it with "
		       "'ulimit -n %zu', or record fewer devices",
		       needed, (unsigned long long)hard, needed);
}
