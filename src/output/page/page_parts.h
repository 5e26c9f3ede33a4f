/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The page without its data, made of the files in this folder when blkbox is built.
 */
#ifndef BLKBOX_OUTPUT_PAGE_PARTS_H
#define BLKBOX_OUTPUT_PAGE_PARTS_H

#include <stddef.h>

extern const unsigned char page_head[];
extern const size_t page_head_bytes;
/* Here comes the JSON of the report. */
extern const unsigned char page_tail[];
extern const size_t page_tail_bytes;

#endif
