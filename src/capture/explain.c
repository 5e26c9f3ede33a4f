/* SPDX-License-Identifier: MIT */
/*
 * What an errno of the kernel means, in words.
 */
#include "preflight.h"

#include "lockdown.h"
#include "mask.h"
#include "needs.h"
#include "number.h"
#include "traces.h"

#include <sys/sysmacros.h>

int preflight_check_mask(const struct trace_options *options, unsigned protocol, struct why *why)
{
	char names[MASK_TEXT_MAX];

	if (protocol > 1 || !options->mask || (uint16_t)options->mask)
		return 0;
	mask_format(options->mask, names, sizeof(names));
	return why_set(why, -EOPNOTSUPP,
		       "this kernel cannot tell %s from other writes: its protocol v1 has no such "
		       "categories",
		       names);
}

static int explain_busy(const struct sysroot *root, const struct kernel_ops *kernel,
			const struct block_device *device, const struct trace_options *options,
			struct why *why)
{
	_cleanup_(traces_deinit) struct traces traces = {0};
	const struct running_trace *trace = NULL;

	if (traces_list(root, kernel, options->debugfs, &traces, NULL) == 0)
		trace = traces_find(&traces, device->disk);
	if (trace)
		trace_describe_owner(trace, why);
	else
		why_set(why, 0,
			"%s is being traced already; 'blkbox status' tells by whom, and a disk has "
			"one trace with its partitions and its sg node",
			device->name);
	return -EBUSY;
}

int preflight_explain_setup(const struct sysroot *root, const struct kernel_ops *kernel,
			    const struct block_device *device, const struct trace_options *options,
			    int error, struct why *why)
{
	switch (-error) {
	case EBUSY:
		return explain_busy(root, kernel, device, options, why);
	case ENOTTY:
		return why_set(why, error,
			       "%s cannot be traced: its driver, or this kernel "
			       "(CONFIG_BLK_DEV_IO_TRACE), has no block tracing",
			       device->name);
	case EIO:
	case ENOMEM:
		return why_set(why, error,
			       "the kernel could not allocate the trace buffers of %s: %u x %s for "
			       "each CPU; ask for less with -b and -n",
			       device->name, options->buffer_count,
			       size_format(options->buffer_bytes).text);
	case ENOENT:
		if (!sysroot_exists(root, "/sys/dev/block/%u:%u", major(device->number),
				    minor(device->number)))
			return why_set(why, error, "%s was removed", device->name);
		return why_set(why, error,
			       "the kernel could not make the trace directory of %s: debugfs is "
			       "switched off (boot parameter debugfs=), or has something of that "
			       "name",
			       device->name);
	case EINVAL:
		return why_set(why, error,
			       "the kernel refuses to trace %s with %u buffers of %u bytes",
			       device->name, options->buffer_count, options->buffer_bytes);
	default:
		return why_errno(why, error, "cannot set up the trace of %s", device->name);
	}
}

int preflight_explain_open(const struct sysroot *root, const char *name, const char *file,
			   int error, struct why *why)
{
	switch (-error) {
	case EPERM:
		/* Nothing else refuses a file of debugfs to those that could list it. */
		return why_set(why, error, "cannot open %s of %s: " NEED_TEXT_LOCKDOWN "%s", file,
			       name,
			       sysroot_exists(root, "/sys/kernel/security/lockdown")
				       ? " (see /sys/kernel/security/lockdown)"
				       : "");
	case EACCES:
		return why_set(why, error, "cannot open %s of %s: not permitted; run as root", file,
			       name);
	case ENOENT:
		return why_set(why, error,
			       "%s of %s is gone: the device was removed, or somebody else ended "
			       "the trace",
			       file, name);
	default:
		return why_errno(why, error, "cannot open %s of %s", file, name);
	}
}
