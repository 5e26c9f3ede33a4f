/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static bool less(const void *context, uint32_t a, uint32_t b)
{
	const int *keys = context;

	return keys[a] < keys[b];
}

Test(heap, gives_out_in_order_whatever_comes_in)
{
	enum {
		N = 1000
	};
	static int keys[N];
	struct heap heap;
	int last = -1;

	srand(1);
	heap_init(&heap, less, keys);
	for (uint32_t i = 0; i < N; i++) {
		keys[i] = rand() % 100;
		cr_assert_eq(heap_push(&heap, i), 0);
	}
	for (int i = 0; i < N; i++) {
		uint32_t item = heap_pop(&heap);

		cr_assert_geq(keys[item], last);
		last = keys[item];
	}
	cr_assert_eq(heap.n, 0);
	heap_deinit(&heap);
}

Test(heap, a_changed_top_finds_its_place)
{
	int keys[] = {1, 5, 3};
	struct heap heap;

	heap_init(&heap, less, keys);
	for (uint32_t i = 0; i < 3; i++)
		heap_push(&heap, i);
	keys[heap_top(&heap)] = 4;
	heap_top_changed(&heap);
	cr_assert_eq(heap_pop(&heap), 2);
	cr_assert_eq(heap_pop(&heap), 0);
	cr_assert_eq(heap_pop(&heap), 1);
	heap_deinit(&heap);
}
