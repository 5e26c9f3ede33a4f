/* SPDX-License-Identifier: MIT */
#include "name_book.h"

#include "cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <uthash.h>

enum {
	COMM_BYTES = sizeof(((struct log_name *)0)->comm),
	LOOK_EVERY = 20, /* looks that are asked for, if no thread is new: 10 s at two a second */
};

struct name_entry {
	uint32_t pid;
	char comm[COMM_BYTES + 1]; /* empty: not known */
	bool asked;		   /* /proc did not know it */
	UT_hash_handle hh;
};

int name_book_init(struct name_book *book)
{
	*book = (struct name_book){0};
	return -pthread_mutex_init(&book->lock, NULL);
}

void name_book_deinit(struct name_book *book)
{
	struct name_entry *entry, *next;

	HASH_ITER (hh, book->entries, entry, next) {
		HASH_DEL(book->entries, entry);
		free(entry);
	}
	free(book->found);
	pthread_mutex_destroy(&book->lock);
}

static struct name_entry *find(struct name_book *book, uint32_t pid)
{
	struct name_entry *entry;

	HASH_FIND(hh, book->entries, &pid, sizeof(pid), entry);
	return entry;
}

int name_book_note(struct name_book *book, uint32_t pid)
{
	struct name_entry *entry;
	int r = 0;

	/* The idle thread of a CPU: readers know its name. */
	if (!pid)
		return 0;
	pthread_mutex_lock(&book->lock);
	if (!find(book, pid)) {
		entry = calloc(1, sizeof(*entry));
		if (entry) {
			entry->pid = pid;
			HASH_ADD(hh, book->entries, pid, sizeof(pid), entry);
			book->has_new = true;
		} else {
			r = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&book->lock);
	return r;
}

/* A name that differs from what is known becomes one for the log. */
static int learn(struct name_book *book, struct name_entry *entry, const char *comm,
		 uint64_t now_ns)
{
	struct log_name *found;

	if (!*comm || !strncmp(entry->comm, comm, COMM_BYTES))
		return 0;
	found = reallocarray(book->found, book->n_found + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	book->found = found;
	snprintf(entry->comm, sizeof(entry->comm), "%s", comm);
	found = &found[book->n_found++];
	*found = (struct log_name){.time_ns = now_ns, .pid = entry->pid};
	memcpy(found->comm, entry->comm, strlen(entry->comm));
	return 0;
}

/* Lines "PID NAME"; "<...>" stands for a name that the kernel has forgotten. */
static int look_in_cmdlines(struct name_book *book, const struct sysroot *root, const char *tracefs,
			    uint64_t now_ns)
{
	_cleanup_close_ int fd = sysroot_openf(root, O_RDONLY, "%s/saved_cmdlines", tracefs);
	_cleanup_fclose_ FILE *in = NULL;
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	int r = 0;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	in = fdopen(fd, "r");
	if (!in)
		return -errno;
	take_fd(&fd);
	while (r == 0 && getline(&line, &room, in) > 0) {
		struct name_entry *entry;
		char *name;
		unsigned long pid = strtoul(line, &name, 10);

		if (*name != ' ' || !strcmp(name + 1, "<...>\n"))
			continue;
		name++;
		name[strcspn(name, "\n")] = '\0';
		entry = find(book, (uint32_t)pid);
		if (entry)
			r = learn(book, entry, name, now_ns);
	}
	return r;
}

static int look_in_proc(struct name_book *book, struct name_entry *entry,
			const struct sysroot *root, uint64_t now_ns)
{
	char comm[64];

	entry->asked = true;
	if (sysroot_read(root, comm, sizeof(comm), "/proc/%u/comm", entry->pid) < 0)
		return 0;
	return learn(book, entry, comm, now_ns);
}

static int look(struct name_book *book, const struct sysroot *root, const char *tracefs,
		uint64_t now_ns)
{
	struct name_entry *entry, *next;
	int r = look_in_cmdlines(book, root, tracefs, now_ns);

	HASH_ITER (hh, book->entries, entry, next) {
		if (r == 0 && !entry->comm[0] && !entry->asked)
			r = look_in_proc(book, entry, root, now_ns);
	}
	return r;
}

ssize_t name_book_collect(struct name_book *book, const struct sysroot *root, const char *tracefs,
			  uint64_t now_ns, bool all, struct log_name **ret)
{
	ssize_t result = 0;

	pthread_mutex_lock(&book->lock);
	if (all || book->has_new || ++book->looked % LOOK_EVERY == 0) {
		book->has_new = false;
		result = look(book, root, tracefs, now_ns);
	}
	if (result == 0) {
		*ret = book->found;
		result = (ssize_t)book->n_found;
		book->found = NULL;
		book->n_found = 0;
	}
	pthread_mutex_unlock(&book->lock);
	return result;
}
