/* SPDX-License-Identifier: MIT */
/* Logs: as they come, and with checksums put right, so that what is behind them is reached. */
#include "fuzz.h"

#include "log_format.h"
#include "log_reader.h"
#include "out.h"

#include <unistd.h>
#include <xxhash.h>

static void seal_block(uint8_t *bytes, size_t size, size_t at, size_t *ret_next)
{
	struct log_block_head head;

	memcpy(&head, bytes + at, sizeof(head));
	if (head.stored_bytes > size - at - sizeof(head))
		head.stored_bytes = (uint32_t)(size - at - sizeof(head));
	head.sync = LOG_BLOCK_SYNC;
	head.payload_check = XXH3_64bits(bytes + at + sizeof(head), head.stored_bytes);
	head.head_check = 0;
	head.head_check = (uint32_t)XXH3_64bits(&head, sizeof(head));
	memcpy(bytes + at, &head, sizeof(head));
	*ret_next = at + sizeof(head) + head.stored_bytes;
}

static void seal(uint8_t *bytes, size_t size)
{
	struct log_header header;
	size_t at = sizeof(header);

	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	memcpy(header.magic, LOG_MAGIC, LOG_MAGIC_BYTES);
	header.check = XXH3_64bits(&header, offsetof(struct log_header, check));
	memcpy(bytes, &header, sizeof(header));
	while (size - at >= sizeof(struct log_block_head))
		seal_block(bytes, size, at, &at);
}

static void read_log(const uint8_t *bytes, size_t size)
{
	struct log_health health;
	struct log_reader *reader;
	struct why why = {""};
	char path[32];
	int fd = fuzz_file(bytes, size, path);

	fuzz_read_recording(path, false);
	if (log_reader_adopt_open(fd, &reader, &why) < 0) {
		FUZZ_CHECK(*why.text);
		return;
	}
	FUZZ_CHECK(log_reader_verify(reader, NULL, &health, &why) == 0);
	FUZZ_CHECK(health.file_bytes == size && health.good_bytes <= size);
	log_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = (uint8_t *)fuzz_text(data, size);

	read_log(copy, size);
	seal(copy, size);
	read_log(copy, size);
	free(copy);
	return 0;
}
