/* SPDX-License-Identifier: MIT */
#include "cpus.h"

#include "fake_tree.h"

#include "cleanup.h"

#include <criterion/criterion.h>

Test(cpus, lists_with_holes)
{
	static const unsigned expected[] = {0, 1, 2, 3, 5, 64, 65, 70000};
	struct cpus cpus;

	cr_assert_eq(cpus_parse("0-3,5,64-65,70000", &cpus), 0);
	cr_assert_eq(cpus.n, 8);
	cr_assert_arr_eq(cpus.numbers, expected, sizeof(expected));
	cr_assert(cpus_contain(&cpus, 70000));
	cr_assert(!cpus_contain(&cpus, 4));
	cr_assert(!cpus_contain(&cpus, 4096));
	cpus_deinit(&cpus);
	cr_assert_eq(cpus_parse("0", &cpus), 0);
	cr_assert_eq(cpus.n, 1);
	cpus_deinit(&cpus);
	cr_assert_eq(cpus_parse("", &cpus), 0);
	cr_assert_eq(cpus.n, 0);
	cr_assert(!cpus_contain(&cpus, 0));
	cpus_deinit(&cpus);
}

Test(cpus, large_machines)
{
	struct cpus cpus;

	cr_assert_eq(cpus_parse("0-8191", &cpus), 0);
	cr_assert_eq(cpus.n, 8192);
	cr_assert_eq(cpus.numbers[8191], 8191);
	cr_assert(cpus_contain(&cpus, 4095));
	cpus_deinit(&cpus);
}

Test(cpus, what_is_no_list)
{
	static const char *const bad[] = {",",	  "0,",	  "0-",	  "-3",	     "3-1",
					  "0,0",  "5,3",  "0 1",  "0-3-5",   "a",
					  "0x1",  "+1",	  "0,-1", "1048576", "0-4294967295",
					  "0,,1", "0- 3", "0\n1"};
	struct cpus cpus = {.n = 7};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(cpus_parse(bad[i], &cpus), -EINVAL, "'%s'", bad[i]);
	cr_assert_eq(cpus.n, 7);
}

Test(cpus, of_a_machine_with_one_offline)
{
	struct fake_tree tree;
	struct cpus online, possible;

	fake_tree_init(&tree);
	cr_assert_eq(cpus_online(&tree.root, &online), -ENOENT);
	fake_tree_write(&tree, "/sys/devices/system/cpu/online", "0,2-3\n");
	fake_tree_write(&tree, "/sys/devices/system/cpu/possible", "0-7\n");
	cr_assert_eq(cpus_online(&tree.root, &online), 0);
	cr_assert_eq(cpus_possible(&tree.root, &possible), 0);
	cr_assert_eq(online.n, 3);
	cr_assert(!cpus_contain(&online, 1));
	cr_assert_eq(possible.n, 8);
	cpus_deinit(&online);
	cpus_deinit(&possible);
	fake_tree_deinit(&tree);
}
