/* SPDX-License-Identifier: MIT */
#include "user.h"

#include "cleanup.h"
#include "invoker.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

enum {
	GROUPS_FIRST = 32,
	GROUPS_MAX = 65536 /* the kernel's NGROUPS_MAX */
};

static int find_groups(struct user *user)
{
	int room = GROUPS_FIRST;

	do {
		gid_t *more = reallocarray(user->groups, (size_t)room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		user->groups = more;
		user->n_groups = room;
		if (getgrouplist(user->name, user->gid, user->groups, &user->n_groups) >= 0)
			return 0;
		room = user->n_groups > room ? user->n_groups : 2 * room;
	} while (room <= GROUPS_MAX);
	return -E2BIG;
}

static int copy(struct user *user, const struct passwd *entry)
{
	user->name = strdup(entry->pw_name);
	user->home = strdup(entry->pw_dir);
	user->shell = strdup(entry->pw_shell);
	return user->name && user->home && user->shell ? find_groups(user) : -ENOMEM;
}

/* A number without a name is a user as well; she is in one group. */
static int have_one_group(struct user *user)
{
	user->groups = malloc(sizeof(*user->groups));
	if (!user->groups)
		return -ENOMEM;
	user->groups[0] = user->gid;
	user->n_groups = 1;
	return 0;
}

int user_find_invoker(struct user *ret, struct why *why)
{
	struct invoker invoker;
	struct user user = {0};
	struct passwd *entry;
	int r;

	if (!invoker_find(&invoker))
		return 0;
	user.uid = invoker.uid;
	user.gid = invoker.gid;
	entry = getpwuid(user.uid);
	r = entry ? copy(&user, entry) : have_one_group(&user);
	if (r < 0) {
		user_deinit(&user);
		return why_errno(why, r, "cannot find the groups of user %u, who started us",
				 (unsigned)invoker.uid);
	}
	*ret = user;
	return 1;
}

void user_deinit(struct user *user)
{
	free(user->groups);
	free(user->name);
	free(user->home);
	free(user->shell);
	*user = (struct user){0};
}

static void set_variables(const struct user *user)
{
	if (!user->name)
		return;
	setenv("USER", user->name, 1);
	setenv("LOGNAME", user->name, 1);
	setenv("HOME", user->home, 1);
	setenv("SHELL", user->shell, 1);
}

int user_become(const struct user *user)
{
	/* Groups first: afterwards it is too late. Away from root, the capabilities go as well. */
	if (setgroups((size_t)user->n_groups, user->groups) < 0 ||
	    setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return -errno;
	/* It must not be possible to come back. */
	if (setuid(0) == 0)
		return -EPERM;
	set_variables(user);
	return 0;
}
