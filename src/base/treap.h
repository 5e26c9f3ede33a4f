/* SPDX-License-Identifier: MIT */
/**
 * @file
 * An ordered set of things with a place: by place, then in the order of insertion. The caller's
 * structs begin with a node, which the set links; it allocates nothing.
 */
#ifndef BLKBOX_BASE_TREAP_H
#define BLKBOX_BASE_TREAP_H

#include <stddef.h>
#include <stdint.h>

struct treap_node {
	struct treap_node *left, *right;
	uint64_t place;
	uint64_t order; /* given at insertion, unless it is kept */
	uint32_t priority;
};

/** All zero is empty. */
struct treap {
	struct treap_node *root;
	size_t n;
	uint64_t orders;
};

/** @node->place is set. @node is behind all others of its place. */
void treap_insert(struct treap *treap, struct treap_node *node);
/** The same, but @node->order is set, too: it stands where it once stood. */
void treap_insert_again(struct treap *treap, struct treap_node *node);
void treap_remove(struct treap *treap, struct treap_node *node);

/** The first node at @place or behind it; NULL if there is none. */
struct treap_node *treap_at(const struct treap *treap, uint64_t place);
struct treap_node *treap_next(const struct treap *treap, const struct treap_node *node);
struct treap_node *treap_previous(const struct treap *treap, const struct treap_node *node);
/** The last node in front of @place. */
struct treap_node *treap_before(const struct treap *treap, uint64_t place);

#endif
