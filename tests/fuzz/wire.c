/* SPDX-License-Identifier: MIT */
/* Relay bytes: records of either protocol and byte order, whole, cut, or none at all. */
#include "fuzz.h"

#include "decoder.h"
#include "wire.h"

static void look(const uint8_t *data, size_t size)
{
	static uint8_t encoded[WIRE_RECORD_MAX];
	struct blkbox_event event, again;
	size_t n, measured, n_again;
	bool note, lossy = false;
	int protocol, r;

	wire_plausible(data, size);
	FUZZ_CHECK(wire_resync(data, size, 0) <= size);
	if (wire_decode(data, size, &n, &event) != WIRE_OK)
		return;
	FUZZ_CHECK(n >= WIRE_HEAD_MIN && n <= size && n <= WIRE_RECORD_MAX);
	FUZZ_CHECK(wire_measure(data, size, &measured, &note) == WIRE_OK && measured == n);
	FUZZ_CHECK(event.pdu_bytes <= n - WIRE_HEAD_MIN);
	protocol = event.protocol;
	r = wire_encode(&event, protocol, encoded, &lossy);
	/* A v1 head with what only v2 has, or a cgroup's id before a payload that fills it. */
	if (r == -EOPNOTSUPP)
		return;
	FUZZ_CHECK(r > 0 && r <= WIRE_RECORD_MAX);
	FUZZ_CHECK(wire_decode(encoded, (size_t)r, &n_again, &again) == WIRE_OK);
	FUZZ_CHECK(n_again == (size_t)r && again.action == event.action &&
		   again.categories == event.categories && again.sector == event.sector &&
		   again.bytes == event.bytes && again.time_ns == event.time_ns &&
		   again.pid == event.pid && again.pdu_bytes == event.pdu_bytes);
	wire_encode(&event, 3 - protocol, encoded, &lossy);
}

/* In pieces, as a recording hands them on: every byte is accounted for. */
static void decode(const uint8_t *data, size_t size, size_t step)
{
	const struct decoder_health *health;
	struct blkbox_event event;
	struct decoder *decoder;
	struct source *queue;
	int r;

	FUZZ_CHECK(source_queue_create(&queue) == 0);
	FUZZ_CHECK(decoder_adopt_create(queue, &decoder) == 0);
	for (size_t at = 0; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		FUZZ_CHECK(source_queue_append(queue, data + at, n) == 0);
		while ((r = decoder_next(decoder, &event, NULL)) == 1)
			;
		FUZZ_CHECK(r == -EAGAIN);
	}
	source_queue_end(queue);
	while ((r = decoder_next(decoder, &event, NULL)) == 1)
		;
	FUZZ_CHECK(r == 0);
	health = decoder_health(decoder);
	FUZZ_CHECK(health->good_bytes + health->skipped_bytes + health->cut_bytes == size);
	decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look(data, size);
	decode(data, size, size ? size : 1);
	decode(data, size, 61);
	return 0;
}
