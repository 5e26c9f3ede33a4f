/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events as text: blkparse's lines, its own formats, its summary.
 */
#ifndef BLKBOX_OUTPUT_TEXT_H
#define BLKBOX_OUTPUT_TEXT_H

#include "scene.h"
#include "sink.h"
#include "text_format.h"

struct text_options {
	const struct text_formats *formats; /* NULL: blkparse's lines; borrowed */
	bool track;			    /* -t */
	bool per_process;		    /* -s */
	bool by_name;			    /* -h */
	bool summary;			    /* the closing one */
};

/**
 * Lines into @fd (borrowed). One line an event; notes of process names and of the wall clock have
 * none. sink_flush() writes what is there, for a running trace. @scene must outlive the sink.
 */
int text_sink_create(int fd, const struct text_options *options, const struct scene *scene,
		     struct sink **ret);

#endif
