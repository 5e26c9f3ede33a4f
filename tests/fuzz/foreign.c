/* SPDX-License-Identifier: MIT */
/* Recordings of other tools: the bytes as one merged stream, and cut in two as a blktrace set. */
#include "fuzz.h"

#include "out.h"

#include <fcntl.h>
#include <unistd.h>

static char directory[64];

static void remove_directory(void)
{
	rmdir(directory);
}

/* Made once: a new one for each input would be most of the work. */
static void need_directory(void)
{
	if (*directory)
		return;
	snprintf(directory, sizeof(directory), "/dev/shm/blkbox-fuzz-XXXXXX");
	if (!mkdtemp(directory)) {
		snprintf(directory, sizeof(directory), "/tmp/blkbox-fuzz-XXXXXX");
		FUZZ_CHECK(mkdtemp(directory));
	}
	atexit(remove_directory);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && write_all(fd, data, size, NULL) == 0);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char stream[32], base[80], a[112], b[112];
	size_t half = size / 2 / 48 * 48;
	int fd = fuzz_file(data, size, stream);

	fuzz_read_recording(stream, true);
	close(fd);
	need_directory();
	snprintf(base, sizeof(base), "%s/x", directory);
	snprintf(a, sizeof(a), "%s.blktrace.0", base);
	snprintf(b, sizeof(b), "%s.blktrace.1", base);
	write_file(a, data, half);
	write_file(b, data + half, size - half);
	fuzz_read_recording(base, false);
	unlink(a);
	unlink(b);
	return 0;
}
