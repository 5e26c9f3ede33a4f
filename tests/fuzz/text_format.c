/* SPDX-License-Identifier: MIT */
/* Formats of -f and -F: compiled, then printed with an I/O, a note and a remap. */
#include "fuzz.h"

#include "text.h"

#include <fcntl.h>
#include <unistd.h>

static int64_t real_offset_ns(void *context, uint32_t tag, uint64_t time_ns)
{
	(void)context;
	(void)tag;
	(void)time_ns;
	return 1700000000000000000;
}

static const char *comm(void *context, uint32_t tag, uint32_t pid, uint32_t cpu, uint64_t time_ns)
{
	(void)context;
	(void)tag;
	(void)cpu;
	(void)time_ns;
	return pid ? "a\033name" : NULL;
}

static const char *device_name(void *context, uint32_t tag, uint32_t device)
{
	(void)context;
	(void)tag;
	(void)device;
	return "sda";
}

static void print(struct text_formats *formats)
{
	static const uint8_t payload[40] = {1, 2, 3, 'x', '%', 'd', '\n'};
	const struct scene scene = {
		.has_real = true,
		.real_offset_ns = real_offset_ns,
		.comm = comm,
		.device_name = device_name,
	};
	struct text_options options = {.formats = formats, .track = true};
	struct merge_item item = {.event = {.device = 8u << 20,
					    .sector = UINT64_MAX - 1,
					    .bytes = 4096,
					    .pid = 4194304,
					    .pdu = payload,
					    .pdu_bytes = sizeof(payload),
					    .protocol = 2}};
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct sink *sink;

	FUZZ_CHECK(text_sink_create(fd, &options, &scene, &sink) == 0);
	for (uint16_t action = 0; action < 24; action++) {
		item.event.action = action;
		item.event.time_ns += 1234567;
		item.event.categories = action % 2 ? BLKBOX_CAT_WRITE : BLKBOX_CAT_NOTIFY;
		sink_event(sink, &item, NULL);
	}
	sink_finish(sink, NULL);
	sink_destroy(sink);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct text_formats *formats;
	struct why why = {""};

	FUZZ_CHECK(text_formats_create(&formats) == 0);
	if (text_formats_one(formats, text, &why) == 0 ||
	    text_formats_all(formats, text, &why) == 0)
		print(formats);
	else
		FUZZ_CHECK(*why.text);
	text_formats_destroy(formats);
	free(text);
	return 0;
}
