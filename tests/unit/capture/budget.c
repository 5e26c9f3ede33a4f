/* SPDX-License-Identifier: MIT */
#include "budget.h"

#include "fake_tree.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/resource.h>

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static struct why why;

static struct budget plan(struct budget_request request)
{
	struct budget budget;

	cr_assert_eq(budget_plan(&request, &budget, &why), 0, "%s", why.text);
	return budget;
}

static void expect_refusal(struct budget_request request, int error, const char *words)
{
	struct budget budget = {.sub_buffers = 4711};
	int r = budget_plan(&request, &budget, &why);

	cr_expect_eq(r, error, "%d: %s", r, why.text);
	cr_expect(strstr(why.text, words), "'%s' has no '%s'", why.text, words);
	cr_expect_eq(budget.sub_buffers, 4711);
}

Test(budget, a_large_machine_gets_what_is_aimed_at)
{
	struct budget budget =
		plan((struct budget_request){.cpus = 8, .devices = 2, .available_bytes = 64 * GIB});

	cr_assert_eq(budget.sub_buffer_bytes, 256 << 10);
	cr_assert_eq(budget.sub_buffers, 128);
	cr_assert_eq(budget.ring_bytes, 4 * MIB);
	cr_assert_eq(budget.total_bytes, 8 * 2 * 36 * MIB);
}

Test(budget, a_small_machine_gives_five_percent)
{
	/* Up to 5 % of what is there, however many share it, down to the least that works. */
	for (uint64_t available = 64 * MIB; available <= 16 * GIB; available *= 2) {
		for (size_t cpus = 1; cpus <= 256; cpus *= 4) {
			struct budget budget =
				plan((struct budget_request){.cpus = cpus,
							     .devices = 1,
							     .available_bytes = available,
							     .force = 1});
			uint64_t least = cpus * (64 * 1024 + 2 * 4096);

			cr_expect(budget.total_bytes <= available / 20 ||
					  budget.total_bytes == least ||
					  budget.sub_buffer_bytes * budget.sub_buffers <= 4 * 4096,
				  "%lu of %lu for %zu", budget.total_bytes, available, cpus);
			cr_expect_geq(budget.sub_buffers, 2);
			cr_expect_geq(budget.sub_buffer_bytes, 4096);
			cr_expect_eq(budget.ring_bytes & (budget.ring_bytes - 1), 0);
		}
	}
}

Test(budget, numbers_of_a_machine_with_one_gib)
{
	/* 5 % are 51.2 MiB, so that two CPUs have 25.6 MiB each: a ring of 2 MiB, the rest kernel.
	 */
	struct budget budget =
		plan((struct budget_request){.cpus = 2, .devices = 1, .available_bytes = GIB});

	cr_assert_eq(budget.ring_bytes, 2 * MIB);
	cr_assert_eq(budget.sub_buffer_bytes, 256 << 10);
	cr_assert_eq(budget.sub_buffers, 94);
	cr_assert_leq(budget.total_bytes, GIB / 20);
}

Test(budget, what_is_asked_for_is_taken)
{
	struct budget budget = plan((struct budget_request){.sub_buffer_bytes = 4096,
							    .sub_buffers = 2,
							    .cpus = 2,
							    .devices = 1,
							    .available_bytes = GIB});

	cr_assert_eq(budget.sub_buffer_bytes, 4096);
	cr_assert_eq(budget.sub_buffers, 2);
	/* One of the two: the other is chosen to suit. */
	budget = plan((struct budget_request){
		.sub_buffer_bytes = MIB, .cpus = 2, .devices = 1, .available_bytes = 64 * GIB});
	cr_assert_eq(budget.sub_buffers, 32);
	budget = plan((struct budget_request){
		.sub_buffers = 1000, .cpus = 2, .devices = 1, .available_bytes = 64 * GIB});
	cr_assert_eq(budget.sub_buffer_bytes, 32768);
	budget = plan((struct budget_request){
		.ring_bytes = 8 * MIB, .cpus = 1, .devices = 1, .available_bytes = 64 * GIB});
	cr_assert_eq(budget.ring_bytes, 8 * MIB);
	/* The kernel takes whole pages. */
	budget = plan((struct budget_request){.sub_buffer_bytes = 5000,
					      .sub_buffers = 3,
					      .ring_bytes = 65536,
					      .cpus = 1,
					      .devices = 1,
					      .available_bytes = GIB});
	cr_assert_eq(budget.total_bytes, 16384 + 65536);
}

Test(budget, what_the_kernel_cannot_do_is_refused_with_force_too)
{
	struct budget_request request = {.cpus = 1,
					 .devices = 1,
					 .available_bytes = 1ull << 50,
					 .force = true};

	request.sub_buffer_bytes = 4095;
	expect_refusal(request, -EINVAL, "at least 4096 bytes");
	request.sub_buffer_bytes = 0;
	request.sub_buffers = 1;
	expect_refusal(request, -EINVAL, "at least 2");
	request.sub_buffers = 524289;
	expect_refusal(request, -EINVAL, "at most 524288");
	request.sub_buffers = 1048576;
	request.sub_buffer_bytes = 4096;
	expect_refusal(request, -EINVAL, "at most 524288");
	request.sub_buffers = 4;
	request.sub_buffer_bytes = GIB;
	expect_refusal(request, -EINVAL, "less than 4 GiB for each CPU");
	request.sub_buffer_bytes = GIB - 1;
	plan(request);
	/* Products that are small again in 32 or 64 bits. */
	request.sub_buffer_bytes = 1ull << 32;
	request.sub_buffers = 0;
	expect_refusal(request, -EINVAL, "less than 4 GiB");
	request.sub_buffer_bytes = 1ull << 62;
	request.sub_buffers = 4;
	expect_refusal(request, -EINVAL, "less than 4 GiB");
	request.cpus = 0;
	request.sub_buffer_bytes = 4096;
	expect_refusal(request, -EINVAL, "nothing to record");
}

Test(budget, what_does_not_fit_needs_force)
{
	struct budget_request request = {.sub_buffer_bytes = 16 * MIB,
					 .sub_buffers = 64,
					 .cpus = 4,
					 .devices = 1,
					 .available_bytes = GIB};

	expect_refusal(request, -ENOMEM,
		       "64 sub-buffers of 16 MiB and a ring of 1 MiB for each of 4 CPUs and 1 "
		       "devices");
	cr_assert(strstr(why.text, "take 4 GiB of memory"), "%s", why.text);
	cr_assert(strstr(why.text, "and 1 GiB are available"), "%s", why.text);
	request.force = true;
	cr_assert_eq(plan(request).total_bytes, 4 * (GIB + MIB));
	/* Half of what is available is the border. */
	request = (struct budget_request){.sub_buffer_bytes = MIB,
					  .sub_buffers = 256,
					  .ring_bytes = MIB,
					  .cpus = 1,
					  .devices = 1,
					  .available_bytes = 514 * MIB + 100};
	plan(request);
	request.sub_buffers = 257;
	expect_refusal(request, -ENOMEM, "--force");
	/* No room even for the least. */
	expect_refusal((struct budget_request){.cpus = 4096, .devices = 8, .available_bytes = GIB},
		       -ENOMEM, "4096 CPUs and 8 devices");
}

Test(budget, available_memory)
{
	struct fake_tree tree;
	uint64_t bytes = 7;

	fake_tree_init(&tree);
	cr_assert_eq(memory_available(&tree.root, &bytes, &why), -ENOENT);
	fake_tree_write(&tree, "/proc/meminfo", "MemTotal:  4000 kB\nMemFree: 10 kB\n");
	cr_assert_eq(memory_available(&tree.root, &bytes, &why), -EINVAL);
	cr_assert_eq(bytes, 7);
	fake_tree_write(
		&tree, "/proc/meminfo",
		"MemTotal:  4000 kB\nMemFree: 10 kB\nMemAvailable:    2048 kB\nBuffers: 1 kB\n");
	cr_assert_eq(memory_available(&tree.root, &bytes, &why), 0);
	cr_assert_eq(bytes, 2 * MIB);
	fake_tree_deinit(&tree);
}

Test(descriptors, the_soft_limit_is_raised)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 64;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(descriptors_reserve(64, &why), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	cr_assert_eq(limit.rlim_cur, 64);
	cr_assert_eq(descriptors_reserve(200, &why), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	cr_assert_eq(limit.rlim_cur, 200);
}

Test(descriptors, more_than_the_system_allows)
{
	/* Above /proc/sys/fs/nr_open even root may not go. */
	cr_assert_eq(descriptors_reserve(SIZE_MAX / 2, &why), -EMFILE);
	cr_assert(strstr(why.text, "ulimit -n 9223372036854775807"), "%s", why.text);
}
