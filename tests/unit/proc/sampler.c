/* SPDX-License-Identifier: MIT */
/* Samples of a made-up machine, compared with rows made by hand. */
#include "sampler.h"

#include "clock.h"
#include "fake_proc.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Columns of the rows below, behind wall and mono. */
#define HEADER_OF_OLD                                                                 \
	"wall,mono,proc,pid,state,d_wchar_kB,d_wbytes_kB,d_blkio_ms,disk_d_write_kB," \
	"disk_d_busy_ms,compact_stall,allocstall,pgmajfault,dirty_kB,writeback_kB,"   \
	"memfree_kB,memavail_kB\n"

enum {
	TICKS_PER_S = 100,
	BEFORE_SWITCH = 5000, /* start of tasks, in ticks; the machine is up for 100 s */
	AFTER_SWITCH = 20000,
};

static struct fake_proc fake;
static struct sampler sampler;
static struct sampler_options options;
static struct sampler_moment moment;
static char rows[1 << 16], alerts[4096];
static const char *names[] = {"victim", "bully"};

static void take_row(void *context, const struct stall_tick *tick, const char *row, size_t n)
{
	(void)context;
	(void)tick;
	cr_assert_eq(row[n - 1], '\n');
	cr_assert_null(memchr(row, '\n', n - 1));
	strncat(rows, row, n);
}

static void take_alert(void *context, const char *text)
{
	(void)context;
	strcat(alerts, text);
	strcat(alerts, "\n");
}

static void put_machine(unsigned allocstall, unsigned sectors)
{
	char text[512];

	fake_put(&fake, "proc/loadavg", "0.00 0.00 0.00 1/100 4711\n");
	snprintf(text, sizeof(text),
		 "nr_dirty 7\nallocstall_dma 1\nallocstall_normal %u\nallocstall_movable 2\n"
		 "allocstall_device 3\npgmajfault 10\ncompact_stall 4\ncompact_fail 9\n",
		 allocstall);
	fake_put(&fake, "proc/vmstat", text);
	fake_put(&fake, "proc/meminfo",
		 "MemTotal:       1000 kB\nMemFree:         111 kB\nMemAvailable:    222 kB\n"
		 "Dirty:            33 kB\nWriteback:         4 kB\nWritebackTmp:     99 kB\n");
	snprintf(text, sizeof(text),
		 "   8       0 sda 1 2 3 4 5 6 %u 8 1 %u 11 12 13 14 15 16 17\n"
		 "   8       1 sda1 1 2 3 4 5 6 7 8 0 10 11\n"
		 " 253       0 dm-0 1 2 3 4 5 6 7000 8 0 10 11\n",
		 sectors, sectors / 10);
	fake_put(&fake, "proc/diskstats", text);
}

static void init(void)
{
	struct why why = {""};

	fake_proc_make(&fake);
	put_machine(100, 1000);
	fake_put(&fake, "proc/sys/kernel/task_delayacct", "1\n");
	fake_put(&fake, "proc/cmdline", "quiet delayacct\n");
	fake_put(&fake, "sys/block/sda/device/vendor", "x");
	fake_put(&fake, "sys/block/dm-0/size", "1");
	options = (struct sampler_options){
		.proc_fd = fake.proc_fd,
		.sys_fd = fake.sys_fd,
		.watch = {.names = names, .n_names = 2},
		.no_swapin = "nobody tells",
		.sink = {take_row, take_alert, NULL},
	};
	moment = (struct sampler_moment){1000 * (uint64_t)NS_PER_S, 5000 * (uint64_t)NS_PER_S,
					 100 * (uint64_t)NS_PER_S};
	cr_assert_eq(sampler_init(&sampler, &options, &why), 0, "%s", why.text);
}

static void deinit(void)
{
	sampler_deinit(&sampler);
	fake_proc_remove(&fake);
}

TestSuite(sampler, .init = init, .fini = deinit);

static void again(const struct sampler_options *with)
{
	struct why why = {""};

	sampler_deinit(&sampler);
	cr_assert_eq(sampler_init(&sampler, with, &why), 0, "%s", why.text);
}

static void tick(void)
{
	rows[0] = '\0';
	sampler_tick(&sampler, &moment, 0);
	moment.mono_ns += 100 * NS_PER_MS;
	moment.real_ns += 100 * NS_PER_MS;
	moment.boot_ns += 100 * NS_PER_MS;
}

static bool has(const char *text)
{
	return strstr(rows, text);
}

Test(sampler, the_first_sample_is_a_baseline_and_gives_no_rows)
{
	cr_expect_str_eq(stall_header(false), HEADER_OF_OLD);
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'D'});
	fake_io(&fake, 7, &(struct fake_io){.wchar = 1 << 20, .write_bytes = 1 << 20});
	tick();
	cr_expect_str_eq(rows, "");
}

Test(sampler, rows_as_those_of_old)
{
	struct fake_task bully = {.pid = 7, .name = "bully", .state = 'R', .start_ticks = 1};
	struct fake_task victim = {.pid = 8, .name = "victim", .state = 'S', .start_ticks = 1};

	fake_task(&fake, &bully);
	fake_task(&fake, &victim);
	fake_io(&fake, 7, &(struct fake_io){0});
	fake_io(&fake, 8, &(struct fake_io){0});
	tick();
	fake_io(&fake, 7, &(struct fake_io){.wchar = 10240, .write_bytes = 8192 + 512});
	victim.blkio_ticks = 3;
	fake_task(&fake, &victim);
	put_machine(102, 1101);
	tick();
	cr_expect(has("5000.100,1000.100,bully,7,R,10,8,0,50,10,,,,,,,\n"), "%s", rows);
	cr_expect(has("5000.100,1000.100,victim,8,S,0,0,30,50,10,,,,,,,\n"), "%s", rows);
	cr_expect(has("5000.100,1000.100,SYS,0,-,,,,,,0,2,0,33,4,111,222\n"), "%s", rows);
	/* At the limits, which are to be exceeded. */
	fake_io(&fake, 7, &(struct fake_io){.wchar = 10240 + 4096, .write_bytes = 8192 + 512});
	tick();
	cr_expect_str_eq(rows, "5000.200,1000.200,SYS,0,-,,,,,,0,0,0,33,4,111,222\n");
	/* One kB of disk more is 0, by the rule of halves. */
	put_machine(102, 1102);
	bully.state = 'D';
	fake_task(&fake, &bully);
	tick();
	cr_expect(has(",bully,7,D,0,0,0,0,0,,,,,,,\n"), "%s", rows);
}

Test(sampler, all_zones_of_allocstall_count)
{
	tick();
	put_machine(100, 1000);
	fake_put(&fake, "proc/vmstat",
		 "allocstall_dma 2\nallocstall_dma32 7\nallocstall_normal 103\n"
		 "allocstall_movable 6\nallocstall_device 8\ncompact_stall 4\n");
	tick();
	/* 1+100+2+3 before, 2+7+103+6+8 now; pgmajfault is not there any more. */
	cr_expect(has(",SYS,0,-,,,,,,0,20,,33,"), "%s", rows);
}

Test(sampler, what_is_not_there_is_empty)
{
	fake_remove(&fake, "proc/vmstat");
	fake_remove(&fake, "proc/meminfo");
	fake_remove(&fake, "proc/diskstats");
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'D'});
	again(&options);
	tick();
	tick();
	cr_expect(has(",bully,7,D,,,0,,,,,,,,,\n"), "%s", rows);
	cr_expect(has(",SYS,0,-,,,,,,,,,,,,\n"), "%s", rows);
}

/* DA-OFF-BY-DEFAULT */
Test(sampler, delay_accounting_off_is_one_note_and_never_a_0)
{
	fake_put(&fake, "proc/sys/kernel/task_delayacct", "0\n");
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'D'});
	fake_io(&fake, 7, &(struct fake_io){0});
	tick();
	cr_expect(has(",\"NOTE: delay accounting is off"), "%s", rows);
	cr_expect(has("--enable-delayacct"));
	tick();
	cr_expect(has(",bully,7,D,0,0,,"), "%s", rows);
	cr_expect_not(has("NOTE"));
	/* Turned on meanwhile: it is told, and those of before stay unmeasured. */
	fake_put(&fake, "proc/sys/kernel/task_delayacct", "1\n");
	moment.mono_ns += NS_PER_S;
	moment.real_ns += NS_PER_S;
	moment.boot_ns += NS_PER_S;
	tick();
	cr_expect(has("NOTE: delay accounting is on"), "%s", rows);
	cr_expect(has(",bully,7,D,0,0,,"), "%s", rows);
}

Test(sampler, tasks_older_than_the_switch_are_not_measured)
{
	struct fake_task old = {.pid = 7,
				.name = "victim",
				.state = 'D',
				.start_ticks = BEFORE_SWITCH};
	struct fake_task young = {.pid = 8,
				  .name = "bully",
				  .state = 'D',
				  .start_ticks = AFTER_SWITCH};

	fake_put(&fake, "proc/cmdline", "quiet nodelayacct\n");
	fake_task(&fake, &old);
	fake_task(&fake, &young);
	fake_io(&fake, 7, &(struct fake_io){0});
	fake_io(&fake, 8, &(struct fake_io){0});
	tick();
	tick();
	cr_expect(has(",victim,7,D,0,0,,"), "%s", rows);
	cr_expect(has(",bully,8,D,0,0,0,"), "%s", rows);
	/* One that has counted something is measured for sure. */
	old.blkio_ticks = 2;
	fake_task(&fake, &old);
	tick();
	cr_expect(has(",victim,7,D,0,0,20,"), "%s", rows);
}

Test(sampler, an_old_kernel_without_field_42)
{
	fake_put(&fake, "proc/7/task/7/stat",
		 "7 (victim) D 1 9 9 0 -1 4194304 100 200 3 4 50 60 7 8 20 0 1 0 77 1000000\n");
	fake_io(&fake, 7, &(struct fake_io){0});
	tick();
	tick();
	cr_expect(has(",victim,7,D,0,0,,"), "%s", rows);
}

Test(sampler, all_threads_count)
{
	struct fake_task first = {
		.pid = 7, .name = "victim", .state = 'S', .threads = 2, .start_ticks = 1};
	struct fake_task worker = {.pid = 7,
				   .tid = 9,
				   .name = "worker",
				   .state = 'S',
				   .threads = 2,
				   .start_ticks = 2,
				   .blkio_ticks = 5};
	struct fake_task late = {.pid = 7,
				 .tid = 10,
				 .name = "late",
				 .state = 'S',
				 .threads = 3,
				 .start_ticks = 3,
				 .blkio_ticks = 2};

	options.all_columns = true;
	again(&options);
	fake_task(&fake, &first);
	fake_task(&fake, &worker);
	fake_io(&fake, 7, &(struct fake_io){0});
	tick();
	worker.state = 'D';
	fake_task(&fake, &worker);
	tick();
	cr_expect(has(",victim,7,D,0,0,0,"), "%s", rows);
	cr_expect(has(",9,worker,10,"), "%s", rows);
	worker.state = 'S';
	worker.blkio_ticks = 12;
	fake_task(&fake, &worker);
	tick();
	cr_expect(has(",victim,7,S,0,0,70,"), "%s", rows);
	/* One that was made meanwhile began at 0. */
	first.threads = 3;
	fake_task(&fake, &first);
	fake_task(&fake, &late);
	tick();
	cr_expect(has(",victim,7,S,0,0,20,"), "%s", rows);
	cr_expect(has(",10,late,10,"), "%s", rows);
	/* And one that ends takes nothing away. */
	fake_remove(&fake, "proc/7/task/10");
	first.threads = 2;
	first.blkio_ticks = 1;
	fake_task(&fake, &first);
	tick();
	cr_expect(has(",victim,7,S,0,0,10,"), "%s", rows);
}

static void deny(void)
{
	/* Root may read any file: what cannot be opened for another reason is a stand-in only. */
	fake_remove(&fake, "proc/7/io");
	cr_assert_eq(symlinkat("/proc/1/mem-that-is-not-there", fake.proc_fd, "7/io"), 0);
}

/* PIO-EACCES */
Test(sampler, counters_that_cannot_be_read_are_empty)
{
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'D'});
	fake_io(&fake, 7, &(struct fake_io){0});
	deny();
	tick();
	tick();
	cr_expect(has(",bully,7,D,,,0,"), "%s", rows);
}

Test(sampler, old_kernels_without_byte_counters)
{
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'D'});
	fake_put(&fake, "proc/7/io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\n");
	tick();
	tick();
	cr_expect(has(",bully,7,D,,,0,"), "%s", rows);
}

Test(sampler, a_wait_is_no_longer_than_the_time_there_was)
{
	struct fake_task victim = {.pid = 7,
				   .name = "victim",
				   .state = 'S',
				   .start_ticks = AFTER_SWITCH};

	fake_io(&fake, 7, &(struct fake_io){0});
	fake_task(&fake, &victim);
	tick();
	tick();
	/* It sleeps for 400 ms, and has waited for all of that. */
	victim.state = 'D';
	for (int i = 0; i < 4; i++) {
		fake_task(&fake, &victim);
		tick();
	}
	victim.state = 'S';
	victim.blkio_ticks = 42;
	fake_task(&fake, &victim);
	tick();
	cr_expect(has(",victim,7,S,0,0,420,"), "%s", rows);
	cr_expect_not(has("longer waits"), "%s", rows);
	/* As 6.12 may tell it: from the start of the wait before. */
	victim.blkio_ticks += 90;
	fake_task(&fake, &victim);
	tick();
	cr_expect(has(",victim,7,S,0,0,110,"), "%s", rows);
	cr_expect(has("NOTE: this kernel tells longer waits than there was time for"), "%s", rows);
	victim.blkio_ticks += 90;
	fake_task(&fake, &victim);
	tick();
	cr_expect(has(",victim,7,S,0,0,110,"), "%s", rows);
	cr_expect_not(has("longer waits"), "told again: %s", rows);
}

/* The rows of a first sample. */
static void mounted_with(const char *mount_options)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "21 1 0:20 / /sys rw - sysfs sysfs rw\n"
		 "22 1 0:21 / /proc rw,nosuid shared:5 - proc proc %s\n"
		 "23 1 0:22 / /srv/proc rw - proc proc rw,hidepid=1\n",
		 mount_options);
	fake_put(&fake, "proc/self/mountinfo", text);
	again(&options);
	tick();
}

/* Root may do all the rest. */
static void may_not_trace(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	cr_assert_eq(syscall(SYS_capget, &header, data), 0);
	data[0].effective &= ~(1u << CAP_SYS_PTRACE);
	cr_assert_eq(syscall(SYS_capset, &header, data), 0);
}

Test(sampler, processes_that_are_hidden_are_told_of_once)
{
	static const struct {
		const char *mount_options;
		bool hides;
	} cases[] = {
		{"rw", false},
		{"rw,hidepid=0", false},
		{"rw,hidepid=off", false},
		{"rw,hidepid=2", true},
		{"rw,hidepid=invisible", true},
		{"rw,gid=54321,hidepid=ptraceable", true},
	};
	char own[64];

	may_not_trace();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mounted_with(cases[i].mount_options);
		cr_expect_eq(has("NOTE: /proc is mounted with hidepid="), cases[i].hides, "%s: %s",
			     cases[i].mount_options, rows);
	}
	tick();
	cr_expect_not(has("hidepid"), "told again: %s", rows);
	snprintf(own, sizeof(own), "rw,hidepid=2,gid=%u", getegid());
	mounted_with(own);
	cr_expect_not(has("hidepid"), "our group sees all: %s", rows);
}

/* PIO-PID-REUSE */
Test(sampler, a_pid_that_is_used_again_begins_anew)
{
	struct fake_task task = {.pid = 7, .name = "bully", .state = 'D', .start_ticks = 10};

	fake_task(&fake, &task);
	fake_io(&fake, 7, &(struct fake_io){.wchar = 1 << 30, .write_bytes = 1 << 30});
	tick();
	task.start_ticks = 20;
	task.name = "victim";
	fake_task(&fake, &task);
	fake_io(&fake, 7, &(struct fake_io){.wchar = 1 << 20, .write_bytes = 1 << 20});
	tick();
	cr_expect(has(",victim,7,D,,,,"), "%s", rows);
	fake_io(&fake, 7, &(struct fake_io){.wchar = 2 << 20, .write_bytes = 1 << 20});
	tick();
	cr_expect(has(",victim,7,D,1024,0,0,"), "%s", rows);
}

Test(sampler, counters_that_go_back_are_no_difference)
{
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'D'});
	fake_io(&fake, 7, &(struct fake_io){.wchar = 100000, .write_bytes = 8192});
	tick();
	fake_io(&fake, 7, &(struct fake_io){.wchar = 10, .write_bytes = 16384});
	tick();
	cr_expect(has(",bully,7,D,,8,0,"), "%s", rows);
	fake_io(&fake, 7, &(struct fake_io){.wchar = 10250, .write_bytes = 16384});
	tick();
	cr_expect(has(",bully,7,D,10,0,0,"), "%s", rows);
}

Test(sampler, what_a_child_had_counted_is_not_counted_once_more)
{
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'S'});
	fake_task(&fake,
		  &(struct fake_task){.pid = 8, .name = "victim", .state = 'S', .parent = 7});
	fake_io(&fake, 7, &(struct fake_io){.wchar = 0});
	fake_io(&fake, 8, &(struct fake_io){.wchar = 0, .write_bytes = 0});
	tick();
	fake_io(&fake, 8, &(struct fake_io){.wchar = 64 << 20, .write_bytes = 64 << 20});
	tick();
	cr_expect(has(",victim,8,S,65536,65536,"), "%s", rows);
	cr_expect_not(has("bully"));
	fake_end(&fake, 8);
	fake_put(&fake, "proc/loadavg", "0.00 0.00 0.00 1/100 4712\n");
	/* The system calls of both, and what it wrote itself. */
	fake_put(&fake, "proc/7/io",
		 "rchar: 0\nwchar: 67129344\nsyscr: 20\nsyscw: 20\nread_bytes: 0\n"
		 "write_bytes: 67108864\ncancelled_write_bytes: 0\n");
	tick();
	cr_expect(has("NOTE: process 7 (bully) took over the counters of its child 8 (victim)"),
		  "%s", rows);
	cr_expect(has(",bully,7,S,20,0,0,"), "%s", rows);
}

Test(sampler, the_rest_is_summed_as_other)
{
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "x", .state = 'S'});
	fake_task(&fake, &(struct fake_task){.pid = 8, .name = "y", .state = 'S'});
	fake_task(&fake, &(struct fake_task){.pid = 9, .name = "z", .state = 'S'});
	fake_io(&fake, 7, &(struct fake_io){0});
	fake_io(&fake, 8, &(struct fake_io){0});
	fake_io(&fake, 9, &(struct fake_io){0});
	tick();
	fake_io(&fake, 7, &(struct fake_io){.wchar = 3 << 10});
	fake_io(&fake, 8, &(struct fake_io){.wchar = 2 << 10, .write_bytes = 1024});
	/* One in D has a row of its own, and is not in the sum. */
	fake_io(&fake, 9, &(struct fake_io){.wchar = 100 << 10});
	fake_task(&fake, &(struct fake_task){.pid = 9, .name = "z", .state = 'D'});
	tick();
	cr_expect(has(",z,9,D,100,0,0,"), "%s", rows);
	cr_expect(has(",other,0,-,5,1,0,0,0,,,,,,,\n"), "%s", rows);
	tick();
	cr_expect_not(has("other"));
}

/* PIO-COMM-PARSE */
Test(sampler, names_of_any_bytes_stay_one_row)
{
	static const struct {
		const char *name, *field;
	} cases[] = {
		{"a b", "a b"},
		{"a) R 1 (", "a) R 1 ("},
		{")", ")"},
		{"(", "("},
		{"", ""},
		{"a\nb", "a\\x0ab"},
		{"a,b", "\"a,b\""},
		{"a\"b", "\"a\"\"b\""},
		{"f\xc3\xbcnfzehn12345\xc3", "f\xc3\xbcnfzehn12345\\xc3"},
		{") D 1 2 3", ") D 1 2 3"},
	};
	char expected[128];

	options.watch = (struct watch_list){.everybody = true};
	again(&options);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_task(&fake, &(struct fake_task){.pid = 7,
						     .name = cases[i].name,
						     .state = 'D',
						     .start_ticks = 5});
		fake_io(&fake, 7, &(struct fake_io){0});
		tick();
		tick();
		snprintf(expected, sizeof(expected), ".%d00,%s,7,D,0,0,0,0,0,,,,,,,\n",
			 (int)(1 + 2 * i) % 10, cases[i].field);
		cr_expect(has(expected), "%s is not in %s", expected, rows);
	}
}

Test(sampler, missed_ticks_and_clocks_that_are_set)
{
	tick();
	rows[0] = '\0';
	sampler_tick(&sampler, &moment, 3);
	cr_expect(has(",\"NOTE: 3 ticks missed since mono 1000.000"), "%s", rows);
	moment.real_ns += 3600 * (uint64_t)NS_PER_S;
	moment.mono_ns += 100 * NS_PER_MS;
	moment.boot_ns += 100 * NS_PER_MS;
	tick();
	cr_expect(has("NOTE: the wall clock was set 3599.900 s forward"), "%s", rows);
	moment.boot_ns += 60 * (uint64_t)NS_PER_S;
	moment.real_ns += 60 * (uint64_t)NS_PER_S;
	tick();
	cr_expect(has("NOTE: the machine slept for 60.000 s"), "%s", rows);
	cr_expect_not(has("wall clock"));
}

Test(sampler, all_columns)
{
	struct fake_task task = {.pid = 7, .name = "bully", .state = 'D', .start_ticks = 250};
	unsigned commas = 0;

	options.all_columns = true;
	again(&options);
	fake_put(&fake, "proc/pressure/io",
		 "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n"
		 "full avg10=0.00 avg60=0.00 avg300=0.00 total=500\n");
	fake_put(&fake, "proc/7/cgroup", "0::/system.slice/a,b.service\n");
	fake_put(&fake, "proc/7/task/7/wchan", "io_schedule");
	fake_task(&fake, &task);
	fake_io(&fake, 7, &(struct fake_io){0});
	tick();
	fake_io(&fake, 7, &(struct fake_io){.rchar = 2048, .read_bytes = 1024});
	fake_put(&fake, "proc/pressure/io",
		 "some avg10=0.00 avg60=0.00 avg300=0.00 total=81000\n"
		 "full avg10=0.00 avg60=0.00 avg300=0.00 total=500\n");
	put_machine(100, 1100);
	tick();
	cr_expect(has(",bully,7,D,0,0,0,50,10,,,,,,,,7,bully,2500,2,1,"), "%s", rows);
	cr_expect(has(",\"/system.slice/a,b.service\",io_schedule,,,,,,,,,,\n"), "%s", rows);
	cr_expect(has(",SYS,0,-,,,,,,0,0,0,33,4,111,222,,,,,,,,,,80,0,,,,,,,0\n"), "%s", rows);
	cr_expect(has(",DISK,0,-,,,,50,10,,,,,,,,,,,,,,,,,,,,,sda,0,0,1,\n"), "%s", rows);
	cr_expect_not(has("dm-0"));
	for (const char *c = stall_header(true); *c; c++)
		commas += *c == ',';
	cr_expect_eq(commas, 34);
}

static uint64_t swapin_ns;
static unsigned questions;

static int tell_swapin(struct swapin *swapin, pid_t pid, uint64_t *ret_ns)
{
	(void)swapin;
	questions++;
	if (pid != 7)
		return -ESRCH;
	*ret_ns = swapin_ns;
	return 0;
}

/* "(a thread's name),ioprio,cgroup,wchan," and then this. */
static bool has_swapin(const char *figure)
{
	char text[64];

	snprintf(text, sizeof(text), ",,io_schedule,%s,,,,,,,,,\n", figure);
	return has(text);
}

Test(sampler, waits_for_swapped_pages)
{
	struct fake_task task = {.pid = 7, .name = "bully", .state = 'D', .start_ticks = 250};

	options.all_columns = true;
	options.read_swapin = tell_swapin;
	again(&options);
	fake_put(&fake, "proc/7/task/7/wchan", "io_schedule");
	fake_task(&fake, &task);
	fake_io(&fake, 7, &(struct fake_io){0});
	swapin_ns = 5 * NS_PER_MS;
	tick();
	cr_expect_not(has("d_swapin_ms"), "%s", rows);
	/* Who had no major fault is not asked about. */
	questions = 0;
	tick();
	cr_expect(has_swapin("0"), "%s", rows);
	cr_expect_eq(questions, 0);
	task.major_faults = 3;
	fake_task(&fake, &task);
	swapin_ns += 70 * NS_PER_MS;
	tick();
	cr_expect(has_swapin("70"), "%s", rows);
	cr_expect_eq(questions, 1);
	tick();
	cr_expect(has_swapin("0"), "%s", rows);
	/* Another process of this number: what it waited before it was seen is not known. */
	task.start_ticks = 300;
	fake_task(&fake, &task);
	tick();
	cr_expect(has_swapin(""), "%s", rows);
}

Test(sampler, waits_for_swapped_pages_that_nobody_counted)
{
	struct fake_task task = {.pid = 7,
				 .name = "bully",
				 .state = 'D',
				 .start_ticks = BEFORE_SWITCH};

	options.all_columns = true;
	options.read_swapin = tell_swapin;
	fake_put(&fake, "proc/cmdline", "quiet\n");
	fake_put(&fake, "proc/sys/kernel/task_delayacct", "0\n");
	again(&options);
	fake_put(&fake, "proc/7/task/7/wchan", "io_schedule");
	fake_task(&fake, &task);
	fake_io(&fake, 7, &(struct fake_io){0});
	swapin_ns = 0;
	for (unsigned i = 0; i < 3; i++) {
		task.major_faults++;
		fake_task(&fake, &task);
		tick();
		if (i)
			cr_expect(has_swapin(""), "%s", rows);
	}
	/* Nobody tells at all. */
	options.read_swapin = NULL;
	again(&options);
	tick();
	cr_expect(has("d_swapin_ms is empty: nobody tells"), "%s", rows);
}

Test(sampler, named_disks)
{
	static const char *disks[] = {"dm-0", "nosuch"};

	options.disks = disks;
	options.n_disks = 2;
	again(&options);
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'D'});
	fake_io(&fake, 7, &(struct fake_io){0});
	tick();
	fake_put(&fake, "proc/diskstats", " 253       0 dm-0 1 2 3 4 5 6 7020 8 0 17 11\n");
	tick();
	cr_expect(has(",bully,7,D,0,0,0,10,7,"), "%s", rows);
	/* It has gone: nothing is known. */
	fake_put(&fake, "proc/diskstats", "");
	tick();
	cr_expect(has(",bully,7,D,0,0,0,,,"), "%s", rows);
}

Test(sampler, alerts_name_the_victim_and_who_writes)
{
	struct fake_task victim = {.pid = 8, .name = "victim", .state = 'D', .start_ticks = 1};

	options.alert_ns = 200 * NS_PER_MS;
	again(&options);
	fake_task(&fake, &(struct fake_task){.pid = 7, .name = "bully", .state = 'S'});
	fake_task(&fake, &victim);
	fake_put(&fake, "proc/8/task/8/wchan", "folio_wait_bit");
	fake_io(&fake, 7, &(struct fake_io){0});
	fake_io(&fake, 8, &(struct fake_io){0});
	tick();
	tick();
	fake_io(&fake, 7, &(struct fake_io){.write_bytes = 5000000});
	tick();
	cr_expect_str_eq(alerts, "", "100 ms for sure, no more");
	tick();
	cr_expect(strstr(alerts, "victim (8) has been blocked for 200 ms, thread 8 in "
				 "folio_wait_bit; wrote most just now: bully (7) 4."),
		  "%s", alerts);
	alerts[0] = '\0';
	tick();
	cr_expect_str_eq(alerts, "", "once for each stretch");
}

/* A victim, and @n ticks of it: in @states at their ends, with so many ticks of 10 ms told each
 * time. */
static void victim_does(const char *states, const unsigned *waits)
{
	struct fake_task victim = {.pid = 8, .name = "victim", .state = 'S', .start_ticks = 1};

	alerts[0] = '\0';
	options.alert_ns = 200 * NS_PER_MS;
	again(&options);
	fake_task(&fake, &victim);
	fake_io(&fake, 8, &(struct fake_io){0});
	tick();
	for (; *states; states++, waits++) {
		victim.state = *states;
		victim.blkio_ticks += *waits;
		fake_task(&fake, &victim);
		tick();
	}
}

Test(sampler, alerts_are_of_waits_in_one_go)
{
	/* Long ones: in D at two samples at least, and told when over, or in pieces. */
	victim_does("SDDS", (unsigned[]){0, 0, 0, 25});
	cr_expect(strstr(alerts, "victim (8) was blocked for 250 ms, thread 8; wrote"), "%s",
		  alerts);
	victim_does("SDDDS", (unsigned[]){0, 5, 9, 10, 10});
	cr_expect(strstr(alerts, "victim (8) has been blocked for 200 ms"), "%s", alerts);
	/* Many short ones. */
	victim_does("SSSSSS", (unsigned[]){6, 6, 6, 6, 6, 6});
	cr_expect_str_eq(alerts, "");
	victim_does("SDDDDS", (unsigned[]){2, 2, 2, 2, 2, 2});
	cr_expect_str_eq(alerts, "");
	/* The kernel's count is of other waiting, too: it never was in D. */
	victim_does("SSSSSS", (unsigned[]){10, 10, 10, 10, 10, 10});
	cr_expect_str_eq(alerts, "");
}

Test(sampler, a_parent_in_vfork_is_no_alert)
{
	fake_put(&fake, "proc/8/task/8/wchan", "kernel_clone");
	victim_does("SDDDDD", (unsigned[]){0, 0, 0, 0, 0, 0});
	cr_expect_str_eq(alerts, "");
}
