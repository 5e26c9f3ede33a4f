/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files behind the public interface share.
 */
#ifndef BLKBOX_LIB_PUBLIC_H
#define BLKBOX_LIB_PUBLIC_H

#include "why.h"

/** Copies the sentence to @ret (may be NULL) if @r is a failure; returns @r. */
int public_result(int r, const struct why *why, char *ret);

#endif
