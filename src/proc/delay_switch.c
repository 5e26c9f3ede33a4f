/* SPDX-License-Identifier: MIT */
#include "delay_switch.h"

#include "figure.h"

#include <fcntl.h>
#include <string.h>

static const char path[] = "sys/kernel/task_delayacct";

/* A small file as text, without its last newline; false: it cannot be read. */
static bool read_text(int proc_fd, const char *file, char *ret, size_t size)
{
	_cleanup_close_ int fd = openat(proc_fd, file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);

	if (n < 0)
		return false;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

static enum delay_state look(int proc_fd)
{
	char text[16];

	if (!read_text(proc_fd, path, text, sizeof(text)))
		return DELAY_UNTOLD;
	return !strcmp(text, "0") ? DELAY_OFF : DELAY_ON;
}

/* "delayacct" as a word: from boot on. */
static bool is_on_from_boot(int proc_fd)
{
	char line[4096], *rest = line, *word;

	if (!read_text(proc_fd, "cmdline", line, sizeof(line)))
		return false;
	while ((word = strsep(&rest, " "))) {
		if (!strcmp(word, "delayacct"))
			return true;
	}
	return false;
}

void delay_switch_init(struct delay_switch *delay, int proc_fd, uint64_t now_ticks)
{
	delay->state = look(proc_fd);
	delay->on_ticks = FIGURE_UNKNOWN;
	if (delay->state == DELAY_ON)
		delay->on_ticks = is_on_from_boot(proc_fd) ? 0 : now_ticks;
}

bool delay_switch_look(struct delay_switch *delay, int proc_fd, uint64_t now_ticks)
{
	enum delay_state state = look(proc_fd);

	if (state == delay->state)
		return false;
	delay->state = state;
	delay->on_ticks = state == DELAY_ON ? now_ticks : FIGURE_UNKNOWN;
	return true;
}

int delay_switch_turn(int proc_fd, bool on, struct why *why)
{
	_cleanup_close_ int fd = openat(proc_fd, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return why_set(why, -ENOENT,
			       "there is no /proc/%s: this kernel is older than 5.14 (start it "
			       "without nodelayacct) or has no CONFIG_TASK_DELAY_ACCT",
			       path);
	if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1)
		return why_errno(why, -errno, "cannot turn delay accounting %s (/proc/%s)",
				 on ? "on" : "off", path);
	return 0;
}

bool delay_switch_measures(const struct delay_switch *delay, uint64_t start_ticks, uint64_t counted)
{
	if (delay->state == DELAY_OFF || !figure_known(counted))
		return false;
	return counted || (figure_known(delay->on_ticks) && start_ticks > delay->on_ticks) ||
	       delay->on_ticks == 0;
}
