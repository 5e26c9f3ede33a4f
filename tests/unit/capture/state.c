/* SPDX-License-Identifier: MIT */
#include "state.h"

#include "fake_kernel.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <string.h>
#include <unistd.h>

static struct fake_tree tree;
static struct fake_kernel kernel;
static struct why why;
static const struct block_device sda1 = {.name = "sda1",
					 .disk_name = "sda",
					 .device = 8 << 20 | 1,
					 .disk = 8 << 20,
					 .partition = true};

/* @fields: from the state on, up to the start time. */
static void write_process(pid_t pid, const char *name, const char *fields)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text), "%d (%s) %s 0 0 0\n", pid, name, fields);
	fake_tree_write(&tree, path, text);
}

#define RUNNING(start) "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " start

static void setup(void)
{
	fake_tree_init(&tree);
	fake_kernel_init(&kernel, &tree);
	write_process(getpid(), "unit", RUNNING("4711"));
}

static void teardown(void)
{
	fake_kernel_deinit(&kernel);
	fake_tree_deinit(&tree);
}

TestSuite(process, .init = setup, .fini = teardown);
TestSuite(state, .init = setup, .fini = teardown);

Test(process, whatever_its_name)
{
	struct process process = {.pid = 7};

	write_process(12, "a) R (b c", RUNNING("99"));
	cr_assert_eq(process_read(&tree.root, 12, &process), 0);
	cr_assert_str_eq(process.name, "a) R (b c");
	cr_assert_eq(process.pid, 12);
	cr_assert_eq(process.start_ticks, 99);
}

Test(process, one_that_is_dead)
{
	struct process process = {.pid = 7};

	cr_assert_eq(process_read(&tree.root, 12, &process), -ENOENT);
	write_process(12, "x", "Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99");
	cr_assert_eq(process_read(&tree.root, 12, &process), -ENOENT);
	write_process(12, "x", "S 1 2");
	cr_assert_eq(process_read(&tree.root, 12, &process), -EINVAL);
	fake_tree_write(&tree, "/proc/12/stat", "12\n");
	cr_assert_eq(process_read(&tree.root, 12, &process), -EINVAL);
	cr_assert_eq(process.pid, 7);
}

Test(process, this_one)
{
	struct sysroot root;
	struct process process;

	cr_assert_eq(sysroot_open(&root, NULL), 0);
	cr_assert_eq(process_read(&root, getpid(), &process), 0);
	cr_assert_gt(process.start_ticks, 0);
	sysroot_close(&root);
}

Test(state, is_written_read_and_removed)
{
	struct trace_state state;

	cr_assert_eq(state_read(&tree.root, sda1.disk, &state), -ENOENT);
	cr_assert_eq(state_write(&tree.root, &sda1,
				 &(struct trace_state){.protocol = 2, .source = "relay"}, &why),
		     0, "%s", why.text);
	/* By its disk: the queue is what has a trace. */
	cr_assert(sysroot_exists(&tree.root, "/run/blkbox/8:0"));
	cr_assert_eq(state_read(&tree.root, sda1.disk, &state), 0);
	cr_assert_str_eq(state.device, "sda1");
	cr_assert_str_eq(state.source, "relay");
	cr_assert_eq(state.protocol, 2);
	cr_assert_eq(state.pid, getpid());
	cr_assert_eq(state.start_ticks, 4711);
	cr_assert(state_owner_alive(&tree.root, &state));
	cr_assert_eq(state_remove(&tree.root, sda1.disk), 0);
	cr_assert_eq(state_remove(&tree.root, sda1.disk), 0);
	cr_assert(!sysroot_exists(&tree.root, "/run/blkbox"));
}

Test(state, of_another_process_stays_unless_it_is_cleared)
{
	fake_tree_write(&tree, "/run/blkbox/8:0",
			"device=sda\nboot_id=x\npid=1\nstart_ticks=1\nprotocol=1\nsource=relay\n");
	cr_assert_eq(state_remove(&tree.root, sda1.disk), 0);
	cr_assert(sysroot_exists(&tree.root, "/run/blkbox/8:0"));
	cr_assert_eq(state_clear(&tree.root, sda1.disk), 0);
	cr_assert(!sysroot_exists(&tree.root, "/run/blkbox/8:0"));
}

/* Of those who died between the note and its name: nothing is left, and nobody living loses one. */
Test(state, a_note_without_its_name_is_found)
{
	char living[64];

	fake_tree_write(&tree, "/run/blkbox/8:0.99999999", "device=sda\nboo");
	state_remove_dead(&tree.root, sda1.disk);
	cr_assert(!sysroot_exists(&tree.root, "/run/blkbox"));
	snprintf(living, sizeof(living), "/run/blkbox/8:0.%d", (int)getpid());
	fake_tree_write(&tree, living, "");
	fake_tree_write(&tree, "/run/blkbox/8:0.99999999", "");
	fake_tree_write(&tree, "/run/blkbox/8:01.99999999", "");
	state_remove_dead(&tree.root, sda1.disk);
	cr_assert(sysroot_exists(&tree.root, "%s", living));
	cr_assert(!sysroot_exists(&tree.root, "/run/blkbox/8:0.99999999"));
	cr_assert(sysroot_exists(&tree.root, "/run/blkbox/8:01.99999999"));
	fake_tree_remove(&tree, "/run/blkbox/8:01.99999999");
	fake_tree_remove(&tree, living);
	/* The folder alone, too. */
	state_remove_dead(&tree.root, sda1.disk);
	cr_assert(!sysroot_exists(&tree.root, "/run/blkbox"));
}

/* The folder goes when a recording ends, at any moment of another's start. */
Test(state, the_folder_may_go_meanwhile)
{
	struct trace_state state;
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child == 0) {
		/* Ends by itself, should the test do so before. */
		alarm(30);
		for (;; usleep(50))
			state_remove_dead(&tree.root, 9 << 20);
	}
	for (int i = 0; i < 500; i++) {
		cr_expect_eq(state_write(&tree.root, &sda1,
					 &(struct trace_state){.protocol = 2, .source = "relay"},
					 &why),
			     0, "%s", why.text);
		cr_expect_eq(state_read(&tree.root, sda1.disk, &state), 0);
		cr_expect_eq(state_remove(&tree.root, sda1.disk), 0);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	state_remove_dead(&tree.root, 9 << 20);
}

Test(state, an_owner_is_more_than_a_number)
{
	struct trace_state state;

	cr_assert_eq(state_write(&tree.root, &sda1,
				 &(struct trace_state){.protocol = 1, .source = "relay"}, NULL),
		     0);
	cr_assert_eq(state_read(&tree.root, sda1.disk, &state), 0);
	write_process(getpid(), "other", RUNNING("4712"));
	cr_assert(!state_owner_alive(&tree.root, &state), "the number was used again");
	write_process(getpid(), "unit", RUNNING("4711"));
	cr_assert(state_owner_alive(&tree.root, &state));
	fake_tree_write(&tree, "/proc/sys/kernel/random/boot_id", "another boot\n");
	cr_assert(!state_owner_alive(&tree.root, &state));
}

#define HEAD "device=sda\nboot_id=x\n"

Test(state, a_damaged_file)
{
	static const char *const bad[] = {
		"",
		"\n",
		"device=sda\n",
		HEAD "pid=0\nstart_ticks=1\nprotocol=1\nsource=relay\n",
		HEAD "pid=-1\nstart_ticks=1\nprotocol=1\nsource=relay\n",
		HEAD "pid=1\nprotocol=1\nsource=relay\n",
		HEAD "pid=1\nstart_ticks=1\nprotocol=1\nsource=0123456789abcdef\n",
	};
	struct trace_state state = {.pid = 7};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fake_tree_write(&tree, "/run/blkbox/8:0", bad[i]);
		cr_expect_eq(state_read(&tree.root, 8 << 20, &state), -EINVAL, "%zu", i);
	}
	cr_assert_eq(state.pid, 7);
}

Test(state, without_a_place_it_is_told)
{
	fake_tree_remove(&tree, "/run");
	cr_assert_eq(state_write(&tree.root, &sda1,
				 &(struct trace_state){.protocol = 2, .source = "relay"}, &why),
		     -ENOENT);
	cr_assert(strstr(why.text, "cannot note in /run/blkbox that sda1 is being recorded"));
	cr_assert_eq(state_remove(&tree.root, sda1.disk), 0);
}
