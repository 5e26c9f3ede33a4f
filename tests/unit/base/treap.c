/* SPDX-License-Identifier: MIT */
#include "treap.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
	N = 500
};

static struct treap_node nodes[N];
static bool is_in[N];

/* By looking at all of them. */
static struct treap_node *first_not_before(uint64_t place, uint64_t order)
{
	struct treap_node *found = NULL;

	for (int i = 0; i < N; i++) {
		struct treap_node *n = &nodes[i];

		if (!is_in[i] || n->place < place || (n->place == place && n->order < order))
			continue;
		if (!found || n->place < found->place ||
		    (n->place == found->place && n->order < found->order))
			found = n;
	}
	return found;
}

static void check(const struct treap *treap, size_t n)
{
	struct treap_node *node = treap_at(treap, 0), *last = NULL;

	cr_assert_eq(treap->n, n);
	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(node, last ? first_not_before(last->place, last->order + 1)
					: first_not_before(0, 0));
		cr_assert_eq(treap_previous(treap, node), last);
		last = node;
		node = treap_next(treap, node);
	}
	cr_assert_null(node);
}

Test(treap, keeps_the_order_of_places_and_of_insertion)
{
	unsigned seed = (unsigned)time(NULL);
	struct treap treap = {0};
	size_t n = 0;

	printf("seed %u\n", seed);
	srand(seed);
	for (int step = 0; step < 20000; step++) {
		int i = rand() % N;

		if (is_in[i]) {
			treap_remove(&treap, &nodes[i]);
			n--;
		} else {
			nodes[i].place = (uint64_t)rand() % 100;
			treap_insert(&treap, &nodes[i]);
			n++;
		}
		is_in[i] = !is_in[i];
		if (step % 500 == 0) {
			uint64_t place = (uint64_t)rand() % 100;

			check(&treap, n);
			cr_assert_eq(treap_at(&treap, place), first_not_before(place, 0));
		}
	}
}
