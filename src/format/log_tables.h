/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a log's blocks say beside the kernel's bytes, gathered and checked.
 */
#ifndef BLKBOX_FORMAT_LOG_TABLES_H
#define BLKBOX_FORMAT_LOG_TABLES_H

#include "log_format.h"
#include "why.h"

#include <stdbool.h>

/** An array that grows; the size of an item is its owner's to know. */
struct log_list {
	void *items;
	size_t n;
	size_t room;
};

struct log_tables {
	struct log_list meta;	   /* of char: the strings with their first '=' made a NUL */
	struct log_list meta_keys; /* of size_t: where in @meta a key starts */
	struct log_list devices;
	struct log_list channels;
	struct log_list drops;
	struct log_list names;
	struct log_list clocks;
	struct log_end *end; /* with the totals behind it; NULL until it comes */
};

void log_tables_deinit(struct log_tables *tables);

/** Room for @n items more. 0 or -ENOMEM. */
int log_list_reserve(struct log_list *list, size_t n, size_t item_bytes);

/**
 * Takes the payload of a block that is not DATA and of a type that is known.
 * 1: taken. 0: it contradicts itself or what came before, nothing was taken. < 0: -E2BIG or
 * -ENOMEM.
 */
int log_tables_add(struct log_tables *tables, const struct log_block_head *head,
		   const uint8_t *payload, struct why *why);

/**
 * After the last block: makes up entries for devices and channels that are referred to but whose
 * own block is lost. @n_channels: that have data.
 */
int log_tables_complete(struct log_tables *tables, size_t n_channels, struct why *why);

const struct log_total *log_tables_total(const struct log_tables *tables, uint32_t channel);
const char *log_tables_meta(const struct log_tables *tables, const char *key);
const char *log_tables_meta_at(const struct log_tables *tables, size_t i, const char **ret_value);

#endif
