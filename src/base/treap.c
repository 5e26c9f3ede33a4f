/* SPDX-License-Identifier: MIT */
#include "treap.h"

#include <stdbool.h>

static bool before(const struct treap_node *a, uint64_t place, uint64_t order)
{
	return a->place < place || (a->place == place && a->order < order);
}

/* The order is unique: mixed well, it is as good as a random number, and the same in every run. */
static uint32_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(x >> 32);
}

/* Into what stands in front of @node, and what stands behind. */
static void split(struct treap_node *tree, const struct treap_node *node, struct treap_node **left,
		  struct treap_node **right)
{
	while (tree) {
		if (before(tree, node->place, node->order)) {
			*left = tree;
			left = &tree->right;
			tree = tree->right;
		} else {
			*right = tree;
			right = &tree->left;
			tree = tree->left;
		}
	}
	*left = *right = NULL;
}

void treap_insert_again(struct treap *treap, struct treap_node *node)
{
	struct treap_node **link = &treap->root;

	node->priority = mix(node->order);
	while (*link && (*link)->priority >= node->priority)
		link = before(*link, node->place, node->order) ? &(*link)->right : &(*link)->left;
	split(*link, node, &node->left, &node->right);
	*link = node;
	treap->n++;
}

void treap_insert(struct treap *treap, struct treap_node *node)
{
	node->order = ++treap->orders;
	treap_insert_again(treap, node);
}

void treap_remove(struct treap *treap, struct treap_node *node)
{
	struct treap_node **link = &treap->root, *left = node->left, *right = node->right;

	while (*link != node)
		link = before(*link, node->place, node->order) ? &(*link)->right : &(*link)->left;
	/* Its two sides become one tree. */
	while (left && right) {
		if (left->priority >= right->priority) {
			*link = left;
			link = &left->right;
			left = left->right;
		} else {
			*link = right;
			link = &right->left;
			right = right->left;
		}
	}
	*link = left ? left : right;
	treap->n--;
}

static struct treap_node *first_from(const struct treap *treap, uint64_t place, uint64_t order)
{
	struct treap_node *node = treap->root, *found = NULL;

	while (node) {
		if (before(node, place, order)) {
			node = node->right;
		} else {
			found = node;
			node = node->left;
		}
	}
	return found;
}

static struct treap_node *last_before(const struct treap *treap, uint64_t place, uint64_t order)
{
	struct treap_node *node = treap->root, *found = NULL;

	while (node) {
		if (before(node, place, order)) {
			found = node;
			node = node->right;
		} else {
			node = node->left;
		}
	}
	return found;
}

struct treap_node *treap_at(const struct treap *treap, uint64_t place)
{
	return first_from(treap, place, 0);
}

struct treap_node *treap_next(const struct treap *treap, const struct treap_node *node)
{
	return first_from(treap, node->place, node->order + 1);
}

struct treap_node *treap_previous(const struct treap *treap, const struct treap_node *node)
{
	return last_before(treap, node->place, node->order);
}

struct treap_node *treap_before(const struct treap *treap, uint64_t place)
{
	return last_before(treap, place, 0);
}
