/* SPDX-License-Identifier: MIT */
#include "stall_history.h"

void stall_history_init(struct stall_history *history)
{
	*history = (struct stall_history){
		.samples.item_bytes = sizeof(struct stall_sample),
		.ticks.item_bytes = sizeof(struct stall_tick),
		.disk_samples.item_bytes = sizeof(struct stall_disk_sample),
		.notes.item_bytes = sizeof(struct stall_note),
	};
}

void stall_history_deinit(struct stall_history *history)
{
	struct stall_process *process, *next;

	HASH_ITER (hh, history->processes, process, next) {
		HASH_DEL(history->processes, process);
		free(process);
	}
	free(history->samples.items);
	free(history->ticks.items);
	free(history->disk_samples.items);
	free(history->notes.items);
}

int stall_queue_push(struct stall_queue *queue, const void *item)
{
	if (queue->first + queue->n == queue->room) {
		/* What went away at the front makes room, if it is half of it. */
		if (queue->first && queue->first >= queue->n) {
			memmove(queue->items, stall_queue_at(queue, 0),
				queue->n * queue->item_bytes);
			queue->first = 0;
		} else {
			size_t room = queue->room ? 2 * queue->room : 256;
			char *items = reallocarray(queue->items, room, queue->item_bytes);

			if (!items)
				return -ENOMEM;
			queue->items = items;
			queue->room = room;
		}
	}
	memcpy(stall_queue_at(queue, queue->n), item, queue->item_bytes);
	queue->n++;
	return 0;
}

static uint64_t time_at(const struct stall_queue *queue, size_t i)
{
	uint64_t ns;

	memcpy(&ns, stall_queue_at(queue, i), sizeof(ns));
	return ns;
}

size_t stall_queue_find(const struct stall_queue *queue, uint64_t ns)
{
	size_t low = 0, high = queue->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (time_at(queue, middle) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void drop_first(struct stall_queue *queue, size_t n)
{
	queue->first += n;
	queue->n -= n;
}

static void copy_name(char *to, const char *from)
{
	snprintf(to, STALL_NAME_BYTES, "%.*s", STALL_NAME_BYTES - 1, from);
}

void stall_history_release(struct stall_history *history, struct stall_process *process)
{
	if (process->rows || process->episode.is_open)
		return;
	HASH_DEL(history->processes, process);
	free(process);
}

struct stall_process *stall_history_process(struct stall_history *history,
					    const struct stall_row *row)
{
	struct stall_process *process;
	struct stall_key key;

	/* With its padding: it is compared as bytes. */
	memset(&key, 0, sizeof(key));
	key.pid = row->pid;
	if (stall_row_has(row, STALL_START_MS))
		key.start_ms = (uint64_t)row->numbers[STALL_START_MS];
	copy_name(key.name, row->name);
	HASH_FIND(hh, history->processes, &key, sizeof(key), process);
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->key = key;
	process->is_other = row->kind == STALL_ROW_OTHER;
	HASH_ADD(hh, history->processes, key, sizeof(key), process);
	return process;
}

static void forget_samples(struct stall_history *history, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct stall_sample *sample = stall_queue_at(&history->samples, i);

		sample->process->rows--;
		stall_history_release(history, sample->process);
	}
	drop_first(&history->samples, n);
}

int stall_history_sample(struct stall_history *history, struct stall_process *process,
			 const struct stall_row *row)
{
	const struct stall_sample sample = {
		.mono_ns = row->mono_ns,
		.process = process,
		.calls_kb = stall_number(row, STALL_WCHAR_KB),
		.device_kb = stall_number(row, STALL_WBYTES_KB),
		.read_kb = stall_number(row, STALL_RBYTES_KB),
		.blkio_ms = stall_number(row, STALL_BLKIO_MS),
		.is_d = stall_row_is_blocked(row),
	};

	if (history->samples.n == STALL_ROWS_MAX) {
		forget_samples(history, STALL_ROWS_MAX / 2);
		history->lost_before_ns = time_at(&history->samples, 0);
	}
	if (stall_queue_push(&history->samples, &sample) < 0) {
		stall_history_release(history, process);
		return -ENOMEM;
	}
	process->rows++;
	if (!sample.is_d && !(sample.blkio_ms > 0))
		return 0;
	if (stall_row_has(row, STALL_WORST_TID) && row->numbers[STALL_WORST_TID] <= UINT32_MAX)
		process->tid = (uint32_t)row->numbers[STALL_WORST_TID];
	if (*row->thread)
		copy_name(process->thread, row->thread);
	/* "0" is what the kernel says of who is not waiting. */
	if (*row->wchan && strcmp(row->wchan, "0") != 0)
		copy_name(process->wchan, row->wchan);
	return 0;
}

int stall_history_disk(struct stall_history *history, const struct stall_row *row, float ms)
{
	struct stall_disk_sample sample = {
		.mono_ns = row->mono_ns,
		.write_kb = stall_number(row, STALL_DISK_WRITE_KB),
		.read_kb = stall_number(row, STALL_DISK_READ_KB),
		.busy_ms = stall_number(row, STALL_DISK_BUSY_MS),
		.in_flight = stall_number(row, STALL_DISK_IN_FLIGHT),
		.ms = ms,
	};
	uint32_t i = 0;

	while (i < history->n_disks && strcmp(history->disks[i], row->disk) != 0)
		i++;
	if (i == STALL_DISKS_MAX)
		return 0;
	if (i == history->n_disks)
		copy_name(history->disks[history->n_disks++], row->disk);
	sample.disk = i;
	return stall_queue_push(&history->disk_samples, &sample);
}

int stall_history_note(struct stall_history *history, const struct stall_row *row)
{
	struct stall_note note = {.mono_ns = row->mono_ns};

	snprintf(note.text, sizeof(note.text), "%.*s", STALL_NOTE_BYTES - 1, row->name);
	if (history->notes.n == STALL_NOTES_MAX)
		drop_first(&history->notes, 1);
	return stall_queue_push(&history->notes, &note);
}

void stall_history_forget(struct stall_history *history, uint64_t before_ns)
{
	forget_samples(history, stall_queue_find(&history->samples, before_ns));
	drop_first(&history->ticks, stall_queue_find(&history->ticks, before_ns));
	drop_first(&history->disk_samples, stall_queue_find(&history->disk_samples, before_ns));
	drop_first(&history->notes, stall_queue_find(&history->notes, before_ns));
}

void stall_tick_system(struct stall_tick *tick, const struct stall_row *row)
{
	tick->has_system = true;
	tick->compact = stall_number(row, STALL_COMPACT);
	tick->allocstall = stall_number(row, STALL_ALLOCSTALL);
	tick->majfault = stall_number(row, STALL_MAJFAULT);
	tick->dirty_kb = stall_number(row, STALL_DIRTY_KB);
	tick->writeback_kb = stall_number(row, STALL_WRITEBACK_KB);
	tick->memavail_kb = stall_number(row, STALL_MEMAVAIL_KB);
	tick->missed = stall_number(row, STALL_MISSED_TICKS);
	for (unsigned i = 0; i < 4; i++)
		tick->psi_ms[i] = stall_number(row, STALL_PSI_IO_SOME_MS + i);
}
