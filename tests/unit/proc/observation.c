/* SPDX-License-Identifier: MIT */
#include "direct.h"
#include "pair.h"

#include <criterion/criterion.h>
#include <string.h>

static struct observation observation;
static const char *reason;

static enum verdict_state verdict(void)
{
	return observation_verdict(&observation, &reason);
}

Test(observation, met_when_all_is)
{
	expect_figure(&observation, "worker", "a", EXPECT_EQUAL, 5, 5);
	expect_figure(&observation, "worker", "b", EXPECT_AT_LEAST, 5, 6);
	expect_figure(&observation, "worker", "c", EXPECT_AT_MOST, 5, 4);
	cr_assert_eq(verdict(), VERDICT_MET);
	cr_assert_null(reason);
}

Test(observation, each_relation_can_fail_and_says_how)
{
	static const struct {
		enum relation relation;
		int64_t expected, observed;
		const char *reason;
	} cases[] = {
		{EXPECT_EQUAL, 5, 6, "a of the worker is 6, not 5"},
		{EXPECT_AT_LEAST, 5, 4, "a of the worker is 4, not at least 5"},
		{EXPECT_AT_MOST, 5, 6, "a of the worker is 6, not at most 5"},
		{EXPECT_EQUAL, 0, -1, "a of the worker is -1, not 0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&observation, 0, sizeof(observation));
		expect_figure(&observation, "worker", "a", cases[i].relation, cases[i].expected,
			      cases[i].observed);
		cr_expect_eq(verdict(), VERDICT_NOT_MET);
		cr_expect_str_eq(reason, cases[i].reason);
	}
}

Test(observation, one_that_is_not_met_outweighs_what_is_undecidable)
{
	expect_figure(&observation, "worker", "a", EXPECT_EQUAL, 1, 1);
	expect_undecidable(&observation, "because of %d", 7);
	cr_expect_eq(verdict(), VERDICT_UNDECIDABLE);
	cr_expect_str_eq(reason, "because of 7");
	expect_figure(&observation, "worker", "b", EXPECT_EQUAL, 1, 2);
	cr_expect_eq(verdict(), VERDICT_NOT_MET);
	cr_expect_str_eq(reason, "b of the worker is 2, not 1");
}

Test(observation, skipped_is_undecidable_and_has_no_figures)
{
	struct io_counters some = {{1}};

	observe_counters(&observation, "some", &some);
	observation_skip(&observation, "there is no %s", "io_uring");
	cr_expect_eq(verdict(), VERDICT_UNDECIDABLE);
	cr_expect_str_eq(reason, "there is no io_uring");
	cr_expect_eq(observation.n_items, 0);
}

Test(observation, what_a_file_system_has_no_device_for_is_expected_to_be_nothing)
{
	static const struct {
		uint64_t magic, bytes;
		enum verdict_state state;
	} cases[] = {
		{0xef53, 4096, VERDICT_MET},	      {0xef53, 4095, VERDICT_NOT_MET},
		{0x58465342, 8192, VERDICT_MET},      {0x9123683e, 0, VERDICT_NOT_MET},
		{0x01021994, 0, VERDICT_MET},	      {0x01021994, 4096, VERDICT_NOT_MET},
		{0x794c7630, 4096, VERDICT_MET},      {0x794c7630, 0, VERDICT_UNDECIDABLE},
		{0x12345678, 0, VERDICT_UNDECIDABLE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench = {.file_system = file_system_by_magic(cases[i].magic)};
		struct io_counters delta = {0};

		memset(&observation, 0, sizeof(observation));
		delta.value[IO_WRITE_BYTES] = cases[i].bytes;
		expect_device_bytes(&bench, &observation, "worker", &delta, IO_WRITE_BYTES,
				    EXPECT_AT_LEAST, 4096);
		cr_expect_eq(verdict(), cases[i].state, "case %zu", i);
	}
}

Test(observation, file_systems_have_the_names_of_stat)
{
	/* coreutils: stat -f -c %T */
	cr_expect_str_eq(file_system_by_magic(0xef53).label, "ext2/ext3");
	cr_expect_str_eq(file_system_by_magic(0x794c7630).label, "overlayfs");
	cr_expect_str_eq(file_system_by_magic(0x01021994).label, "tmpfs");
	cr_expect_str_eq(file_system_by_magic(0x9123683e).label, "btrfs");
	cr_expect_str_eq(file_system_by_magic(0x58465342).label, "xfs");
	cr_expect_null(file_system_by_magic(0x1).label);
}

/* 4096 of 8192 bytes were cancelled. */
static void be_open(void)
{
	struct io_counters delta = {0};

	delta.value[IO_CANCELLED_WRITE_BYTES] = 4096;
	expect_counter(&observation, "unlinker", &delta, IO_CANCELLED_WRITE_BYTES, EXPECT_AT_LEAST,
		       8192);
	expect_undecidable(&observation, "who knows");
}

Test(observation, what_the_device_wrote_may_have_been_written_before)
{
	be_open();
	pair_settle(&observation, 4096);
	cr_expect_eq(verdict(), VERDICT_UNDECIDABLE);
	cr_expect_str_eq(reason, "who knows");
}

Test(observation, what_no_device_wrote_was_not_counted)
{
	be_open();
	pair_settle(&observation, 4095);
	cr_expect_eq(verdict(), VERDICT_NOT_MET);
	cr_expect_not_null(strstr(reason, "the device wrote no more than 4095"), "%s", reason);
}

/* 4096 of 8192 bytes were read from the device. */
static void read_half(void)
{
	struct bench bench = {.file_system = file_system_by_magic(0xef53), .payload_bytes = 8192};
	struct io_counters delta = {0};

	delta.value[IO_READ_BYTES] = 4096;
	expect_direct_bytes(&bench, &observation, &delta);
}

Test(observation, what_is_read_directly_may_come_from_the_cache)
{
	read_half();
	cr_expect_eq(verdict(), VERDICT_UNDECIDABLE);
	cr_expect_not_null(strstr(reason, "4096 of 8192 bytes were not read"), "%s", reason);
	cr_expect_not_null(strstr(reason, "data=journal (ext4)"), "%s", reason);
	direct_settle(&observation, 8191);
	cr_expect_eq(verdict(), VERDICT_UNDECIDABLE);
}

Test(observation, what_a_device_read_and_is_not_counted_is_not_met)
{
	read_half();
	direct_settle(&observation, 8192);
	cr_expect_eq(verdict(), VERDICT_NOT_MET);
	cr_expect_str_eq(reason,
			 "read_bytes of the worker is 4096, though the device read 8192 bytes");
}
