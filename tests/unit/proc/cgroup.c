/* SPDX-License-Identifier: MIT */
#include "cgroup.h"

#include <criterion/criterion.h>

static struct cgroup_io io;

Test(cgroup, io_stat_is_summed_over_devices)
{
	/* As Linux 6.12 wrote it. */
	cr_assert_eq(cgroup_io_parse("253:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n"
				     "7:3 rbytes=1 wbytes=2 rios=1 wios=1 dbytes=5 dios=1\n",
				     &io),
		     0);
	cr_expect_eq(io.read_bytes, 4097);
	cr_expect_eq(io.write_bytes, 8194);
}

Test(cgroup, nothing_yet)
{
	cr_assert_eq(cgroup_io_parse("", &io), 0);
	cr_expect_eq(io.read_bytes, 0);
	/* A device that was only throttled. */
	cr_assert_eq(cgroup_io_parse("8:0 \n", &io), 0);
	cr_expect_eq(io.write_bytes, 0);
}

Test(cgroup, rubbish_is_refused)
{
	cr_expect_eq(cgroup_io_parse("8:0 rbytes=x wbytes=1\n", &io), -EBADMSG);
}
