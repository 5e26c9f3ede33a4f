/* SPDX-License-Identifier: MIT */
/*
 * Events without any sense: what a damaged file, a filter of the kernel's or a bug there makes. No
 * figure can be right, but every I/O that begins ends once, and nothing else happens.
 */
#include "dice.h"
#include "track_run.h"

static struct run run;

static void set_up(void)
{
	dice_seed();
	run = (struct run){0};
}

static void tear_down(void)
{
	run_free(&run);
}

TestSuite(track_soup, .init = set_up, .fini = tear_down);

static uint64_t any_sector(void)
{
	static const uint64_t odd[] = {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX >> 9, 0, 1};

	return roll(20) ? 8 * roll(12) + !roll(5) : odd[roll(5)];
}

static uint32_t any_bytes(void)
{
	static const uint32_t odd[] = {0, 1, 511, 513, UINT32_MAX, 0xfffffe00};

	return roll(10) ? 512 * (1 + roll(24)) : odd[roll(6)];
}

static void any_event(uint64_t ns)
{
	static const char *const rwbs[] = {"R",	  "W",	  "WS", "D",  "FN",
					   "FWS", "FWFS", "N",	"RV", "WV"};
	static const uint32_t devices[] = {8 << 20, 8 << 20, 253 << 20};
	struct trace_record record = {
		.protocol = 1,
		.act = "QQQGIDDDCCCMFRXAPUTSB"[roll(21)],
		.rwbs = rwbs[roll(10) ? roll(4) : roll(10)],
		.sector = any_sector(),
		.bytes = any_bytes(),
		.pid = roll(4),
		.cpu = roll(3),
		.device = devices[roll(3)],
		.error = roll(20) ? 0 : -5,
		.number = roll(100),
		.from_device = devices[roll(3)],
		.from_sector = any_sector(),
		.ns = ns,
	};

	record.more_categories = roll(2) ? BLKBOX_CAT_FS : 0;
	trace_add(&run.t, &record);
}

static void soup(void)
{
	uint64_t ns = 1000;

	for (int i = 0; i < 3000; i++) {
		ns += roll(1000) ? roll(2000) : UINT64_C(10000000000);
		any_event(ns);
	}
	run_trace(&run);
}

static void expect_an_end_for_each(void)
{
	size_t ended = 0;

	for (size_t i = 0; i < run.n_ios; i++)
		ended += run.ios[i].times.queued_ns != 0;
	for (size_t i = 0; i < run.n_ended; i++)
		ended += run.ended[i].times.queued_ns != 0;
	cr_assert_eq(run.n_queued, ended);
	for (size_t i = 0; i < run.result->n_devices; i++) {
		const struct stats_group *all = &run.result->devices[i].all;
		uint64_t left = 0, shares = 0;

		for (unsigned e = 0; e < TRACK_ENDS; e++)
			left += all->ended[e];
		cr_assert_eq(all->queued, all->ios + all->errors + left - all->no_queue);
		for (unsigned s = 0; s < SHARES; s++)
			shares += all->share_ns[s];
		if (all->stages[STAGE_Q2C])
			cr_assert_eq(shares, (uint64_t)all->stages[STAGE_Q2C]->sum);
	}
}

Test(track_soup, every_io_ends_once)
{
	soup();
	expect_an_end_for_each();
}

Test(track_soup, also_with_losses)
{
	static struct recording_loss losses[20];

	for (int i = 0; i < 20; i++)
		losses[i] = (struct recording_loss){.from_ns = 100000 * i,
						    .to_ns = 100000 * i + roll(150000),
						    .count = 1};
	run.losses = losses;
	run.n_losses = 20;
	soup();
	expect_an_end_for_each();
}
