/* SPDX-License-Identifier: MIT */
#include "log_repeat.h"

#include "cleanup.h"

#include <string.h>

int log_repeat_keep(struct log_repeat *repeat, enum log_block_type type, const void *payload,
		    size_t size)
{
	_cleanup_free_ void *copy = NULL;
	struct log_kept *grown;

	if (type != LOG_META && type != LOG_DEVICES && type != LOG_CHANNELS)
		return 0;
	grown = reallocarray(repeat->blocks, repeat->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	repeat->blocks = grown;
	copy = malloc(size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, payload, size);
	grown[repeat->n++] = (struct log_kept){type, size, take_ptr(copy)};
	return 0;
}

void log_repeat_deinit(struct log_repeat *repeat)
{
	for (size_t i = 0; i < repeat->n; i++)
		free(repeat->blocks[i].payload);
	free(repeat->blocks);
	*repeat = (struct log_repeat){0};
}
