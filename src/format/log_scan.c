/* SPDX-License-Identifier: MIT */
#include "log_scan.h"

#include "log_block.h"

#include <string.h>

void log_health_damage(struct log_health *health, uint64_t offset, uint64_t bytes)
{
	if (!health->damaged_bytes || offset < health->first_damage_offset)
		health->first_damage_offset = offset;
	health->damaged_blocks++;
	health->damaged_bytes += bytes;
}

static int read_failed(ssize_t error, uint64_t offset, struct why *why)
{
	return why_errno(why, (int)error, "cannot read the log at byte %llu",
			 (unsigned long long)offset);
}

/* Offset of the first head in @bytes, or @size. */
static size_t find_head(const uint8_t *bytes, size_t size)
{
	const uint32_t sync = LOG_BLOCK_SYNC;
	struct log_block_head head;
	size_t at = 0;

	while (at + sizeof(head) <= size) {
		/* Only where there is room for the rest of the head. */
		const uint8_t *found = memmem(bytes + at, size - at - sizeof(head) + sizeof(sync),
					      &sync, sizeof(sync));

		if (!found)
			break;
		at = (size_t)(found - bytes);
		memcpy(&head, found, sizeof(head));
		if (log_block_head_valid(&head))
			return at;
		at++;
	}
	return size;
}

/* Offset of the next head from @at on, or the end of the file. */
static int search_head(const struct log_scan *scan, uint64_t at, uint64_t *ret, struct why *why)
{
	uint8_t bytes[16 << 10];
	uint64_t end = scan->health->file_bytes;

	while (end - at >= sizeof(struct log_block_head)) {
		size_t want = end - at < sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);
		ssize_t n = log_pread(scan->fd, bytes, want, at);
		size_t found;

		if (n < 0)
			return read_failed(n, at, why);
		if ((size_t)n < sizeof(struct log_block_head))
			break;
		found = find_head(bytes, (size_t)n);
		if (found < (size_t)n) {
			*ret = at + found;
			return 0;
		}
		at += (size_t)n - sizeof(struct log_block_head) + 1;
	}
	*ret = end;
	return 0;
}

int log_scan_next(struct log_scan *scan, struct log_block_head *ret_head, uint64_t *ret_offset,
		  struct why *why)
{
	struct log_health *health = scan->health;
	struct log_block_head head;

	/* Fewer bytes than a head's at the end are what a cut left of one. */
	while (health->file_bytes - scan->at >= sizeof(head)) {
		uint64_t left = health->file_bytes - scan->at - sizeof(head);
		uint64_t next;
		ssize_t n = log_pread(scan->fd, &head, sizeof(head), scan->at);
		int r;

		if (n < 0)
			return read_failed(n, scan->at, why);
		if ((size_t)n == sizeof(head) && log_block_head_valid(&head)) {
			if (head.stored_bytes > left)
				break;
			*ret_head = head;
			*ret_offset = scan->at;
			scan->at += sizeof(head) + head.stored_bytes;
			health->good_bytes = scan->at;
			return 1;
		}
		r = search_head(scan, scan->at + 1, &next, why);
		if (r < 0)
			return r;
		log_health_damage(health, scan->at, next - scan->at);
		scan->at = next;
	}
	return 0;
}

void log_scan_finish(struct log_scan *scan)
{
	uint64_t end = scan->health->file_bytes;

	if (scan->at < end)
		log_health_damage(scan->health, scan->at, end - scan->at);
	scan->at = end;
}
