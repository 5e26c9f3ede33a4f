/* SPDX-License-Identifier: MIT */
#include "cpus.h"

#include "cleanup.h"

#include <string.h>

/* Far above any kernel's limit; a damaged list must not make us allocate without end. */
enum {
	CPU_NUMBER_MAX = 1 << 20
};

int cpus_parse(const char *list, struct cpus *ret)
{
	_cleanup_(cpus_deinit) struct cpus cpus = {0};
	unsigned next = 0; /* the kernel lists them in ascending order */

	while (*list) {
		unsigned first, last;
		int used = 0;

		if (*list < '0' || *list > '9' || sscanf(list, "%7u%n", &first, &used) != 1)
			return -EINVAL;
		list += used;
		last = first;
		if (*list == '-') {
			if (list[1] < '0' || list[1] > '9' ||
			    sscanf(list + 1, "%7u%n", &last, &used) != 1)
				return -EINVAL;
			list += 1 + used;
		}
		if (first < next || last < first || last >= CPU_NUMBER_MAX)
			return -EINVAL;
		next = last + 1;
		if (*list == ',' && list[1])
			list++;
		else if (*list)
			return -EINVAL;

		unsigned *numbers =
			reallocarray(cpus.numbers, cpus.n + last - first + 1, sizeof(*numbers));

		if (!numbers)
			return -ENOMEM;
		cpus.numbers = numbers;
		for (; first <= last; first++)
			cpus.numbers[cpus.n++] = first;
	}
	*ret = cpus;
	cpus = (struct cpus){0};
	return 0;
}

void cpus_deinit(struct cpus *cpus)
{
	free(cpus->numbers);
	*cpus = (struct cpus){0};
}

static int read_list(const struct sysroot *root, const char *which, struct cpus *ret)
{
	char list[16384]; /* sysfs gives a page at most */
	int r = sysroot_read(root, list, sizeof(list), "/sys/devices/system/cpu/%s", which);

	return r < 0 ? r : cpus_parse(list, ret);
}

int cpus_online(const struct sysroot *root, struct cpus *ret)
{
	return read_list(root, "online", ret);
}

int cpus_possible(const struct sysroot *root, struct cpus *ret)
{
	return read_list(root, "possible", ret);
}

static int compare_numbers(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

bool cpus_contain(const struct cpus *cpus, unsigned number)
{
	return cpus->n && bsearch(&number, cpus->numbers, cpus->n, sizeof(number), compare_numbers);
}
