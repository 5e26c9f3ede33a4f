/* SPDX-License-Identifier: MIT */
#include "letters.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect(uint32_t categories, uint32_t bytes, const char *letters, const char *words,
		   enum operation operation)
{
	struct blkbox_event event = {.categories = categories, .bytes = bytes, .action = 1};
	char words_got[RWBS_LONG_MAX];
	char got[RWBS_MAX];

	cr_assert_eq(rwbs_format(&event, got), strlen(letters));
	cr_assert_str_eq(got, letters);
	rwbs_long(&event, words_got);
	cr_assert_str_eq(words_got, words);
	cr_assert_eq(operation_of(&event), operation, "%s", letters);
}

enum {
	R = BLKBOX_CAT_READ,
	W = BLKBOX_CAT_WRITE,
	FLUSH = BLKBOX_CAT_FLUSH,
	FUA = BLKBOX_CAT_FUA,
	SYNC = BLKBOX_CAT_SYNC,
	META = BLKBOX_CAT_META,
	AHEAD = BLKBOX_CAT_AHEAD,
};

/* FMT-RWBS */
Test(letters, rwbs_has_a_fixed_order)
{
	expect(R, 512, "R", "read", OPERATION_READ);
	expect(R, 0, "N", "none", OPERATION_NONE);
	expect(R | FLUSH, 0, "FN", "flush", OPERATION_FLUSH);
	expect(W | FLUSH | SYNC, 0, "FWS", "flush,sync", OPERATION_FLUSH);
	expect(W | FLUSH | FUA | SYNC, 512, "FWFS", "preflush,write,fua,sync", OPERATION_WRITE);
	expect(R | AHEAD | META | SYNC, 512, "RASM", "read,ahead,sync,meta", OPERATION_READ);
	expect(W | BLKBOX_CAT_DISCARD, 512, "D", "discard", OPERATION_DISCARD);
	expect(W | BLKBOX_CAT_WRITE_ZEROES, 512, "WZ", "write-zeroes", OPERATION_WRITE_ZEROES);
	expect(W | BLKBOX_CAT_ZONE_APPEND, 512, "ZA", "zone-append", OPERATION_ZONE_APPEND);
	expect(W | SYNC | BLKBOX_CAT_ZONE_RESET, 0, "ZRS", "zone-reset,sync", OPERATION_ZONE_RESET);
	expect(W | BLKBOX_CAT_ZONE_RESET_ALL, 0, "ZRA", "zone-reset-all", OPERATION_ZONE_RESET_ALL);
	expect(W | BLKBOX_CAT_ZONE_FINISH, 0, "ZF", "zone-finish", OPERATION_ZONE_FINISH);
	expect(W | BLKBOX_CAT_ZONE_OPEN, 0, "ZO", "zone-open", OPERATION_ZONE_OPEN);
	expect(W | BLKBOX_CAT_ZONE_CLOSE, 0, "ZC", "zone-close", OPERATION_ZONE_CLOSE);
	expect(W | BLKBOX_CAT_PC, 36, "W", "passthrough", OPERATION_PASSTHROUGH);
	expect(~(uint32_t)BLKBOX_CAT_NOTIFY, 512, "FZAFASM",
	       "preflush,passthrough,fua,ahead,sync,meta", OPERATION_PASSTHROUGH);
}

/* FMT-BAD-ACTION */
Test(letters, every_action_has_letters_and_is_found_by_them)
{
	for (uint16_t action = 1; action <= BLKBOX_ZONE_UNPLUG; action++) {
		struct blkbox_event event = {
			.action = action,
			.categories = BLKBOX_CAT_COMPLETE,
			.protocol = 2,
		};
		struct action_key key;

		cr_assert_not_null(action_letters(&event));
		cr_assert(action_find(action_letters(&event), &key));
		cr_assert(action_matches(&key, &event));
		cr_assert(action_find(action_name(&event), &key));
		cr_assert(action_matches(&key, &event));
		cr_assert_not_null(strstr(letters_legend, action_name(&event)));
	}
	cr_assert_null(action_letters(&(struct blkbox_event){.action = 200}));
	cr_assert_null(action_letters(&(struct blkbox_event){.action = 0}));
}

Test(letters, the_final_sector_of_a_zone_append_is_no_completion)
{
	struct blkbox_event event = {
		.action = BLKBOX_COMPLETE,
		.protocol = 2,
		.categories = BLKBOX_CAT_WRITE | BLKBOX_CAT_FS | BLKBOX_CAT_ZONE_APPEND,
	};
	struct action_key complete, append;

	cr_assert_str_eq(action_letters(&event), "ZA");
	cr_assert(action_find("C", &complete));
	cr_assert(action_find("ZA", &append));
	cr_assert_not(action_matches(&complete, &event));
	cr_assert(action_matches(&append, &event));
	event.categories |= BLKBOX_CAT_COMPLETE;
	cr_assert_str_eq(action_letters(&event), "C");
}

Test(letters, unknown_categories_change_no_operation)
{
	struct blkbox_event event = {
		.categories = BLKBOX_CAT_WRITE | 1u << 23,
		.bytes = 512,
		.protocol = 2,
	};
	char rwbs[RWBS_MAX];

	cr_assert_eq(operation_of(&event), OPERATION_WRITE);
	rwbs_format(&event, rwbs);
	cr_assert_str_eq(rwbs, "W");
}
