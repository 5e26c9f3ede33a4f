/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

#include "cleanup.h"
#include "preflight.h"
#include "state.h"

#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>

/* Appends "KEY=VALUE" and its NUL; a control character would end the line of a reader. */
static void _printf_(3, 4) add(FILE *out, const char *key, const char *format, ...)
{
	_cleanup_free_ char *value = NULL;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&value, format, args);
	va_end(args);
	if (r < 0) {
		value = NULL;
		return;
	}
	fprintf(out, "%s=%s", key, value);
	fputc('\0', out);
}

static void add_file(FILE *out, const struct sysroot *root, const char *key, const char *path)
{
	char text[256];

	if (sysroot_read(root, text, sizeof(text), "%s", path) > 0)
		add(out, key, "%s", text);
}

static void add_options(FILE *out, const struct trace_options *trace)
{
	add(out, "mask", "0x%x", trace->mask ? trace->mask : 0xffff);
	add(out, "buffer_bytes", "%u", trace->buffer_bytes);
	add(out, "buffer_count", "%u", trace->buffer_count);
	if (trace->pid)
		add(out, "pid", "%u", trace->pid);
	if (trace->first_sector || trace->last_sector)
		add(out, "sectors", "%llu-%llu", (unsigned long long)trace->first_sector,
		    (unsigned long long)trace->last_sector);
}

int session_write_meta(struct session *session, struct why *why)
{
	const struct sysroot *root = session->root;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct utsname name;

	if (!out)
		return why_errno(why, -ENOMEM, "cannot describe the recording");
	if (uname(&name) == 0) {
		add(out, "host", "%s", name.nodename);
		add(out, "kernel", "%s", name.release);
		add(out, "machine", "%s", name.machine);
	}
	add(out, "program", "blkbox");
	add(out, "version", "%s", BLKBOX_VERSION);
	add(out, "source", "%s", session->source->ops->name);
	add_file(out, root, "boot_id", "/proc/sys/kernel/random/boot_id");
	add_file(out, root, "cpus_online", "/sys/devices/system/cpu/online");
	add_file(out, root, "clocksource",
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	add_options(out, &session->trace);
	if (session->source->ops->add_meta)
		session->source->ops->add_meta(session->source, out, false);
	if (session->meta_bytes)
		fwrite(session->meta, 1, session->meta_bytes, out);
	if (fclose(out) != 0)
		return why_errno(why, -ENOMEM, "cannot describe the recording");
	return session->sink->meta(session->sink->context, text, size, why);
}

int session_write_end_meta(struct session *session, struct why *why)
{
	const struct span_sink *sink = session->sink;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (!sink->meta)
		return 0;
	out = open_memstream(&text, &size);
	if (!out)
		return why_errno(why, -ENOMEM, "cannot describe the recording");
	add(out, LOG_META_RECORDED_FROM, "%llu", (unsigned long long)session->started_ns);
	add(out, LOG_META_RECORDED_TO, "%llu", (unsigned long long)session->stopped_ns);
	if (session->source->ops->add_meta)
		session->source->ops->add_meta(session->source, out, true);
	if (fclose(out) != 0)
		return why_errno(why, -ENOMEM, "cannot describe the recording");
	return sink->meta(sink->context, text, size, why);
}
