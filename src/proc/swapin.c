/* SPDX-License-Identifier: MIT */
#include "swapin.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
	MESSAGE_BYTES = 8192,
};

static struct nlmsghdr *question(struct swapin *swapin, char *buffer, uint16_t type,
				 uint8_t command)
{
	struct nlmsghdr *head = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *generic;

	head->nlmsg_type = type;
	head->nlmsg_flags = NLM_F_REQUEST;
	head->nlmsg_seq = ++swapin->sequence;
	generic = mnl_nlmsg_put_extra_header(head, sizeof(*generic));
	generic->cmd = command;
	generic->version = 1;
	return head;
}

static int find_family(const struct nlattr *attribute, void *context)
{
	uint16_t *ret = context;

	if (mnl_attr_get_type(attribute) == CTRL_ATTR_FAMILY_ID &&
	    mnl_attr_validate(attribute, MNL_TYPE_U16) >= 0)
		*ret = mnl_attr_get_u16(attribute);
	return MNL_CB_OK;
}

static int take_family(const struct nlmsghdr *head, void *context)
{
	return mnl_attr_parse(head, sizeof(struct genlmsghdr), find_family, context);
}

/* The structure only ever grows at its end; what we take is there since its first version. */
static int find_stats(const struct nlattr *attribute, void *context)
{
	const size_t end = offsetof(struct taskstats, swapin_delay_total) + sizeof(uint64_t);
	uint64_t *ret = context;

	if (mnl_attr_get_type(attribute) == TASKSTATS_TYPE_STATS &&
	    mnl_attr_get_payload_len(attribute) >= end) {
		const char *stats = mnl_attr_get_payload(attribute);

		/* Not always at a multiple of 8. */
		memcpy(ret, stats + offsetof(struct taskstats, swapin_delay_total), sizeof(*ret));
	}
	return MNL_CB_OK;
}

static int find_process(const struct nlattr *attribute, void *context)
{
	if (mnl_attr_get_type(attribute) != TASKSTATS_TYPE_AGGR_TGID)
		return MNL_CB_OK;
	return mnl_attr_parse_nested(attribute, find_stats, context);
}

static int take_stats(const struct nlmsghdr *head, void *context)
{
	return mnl_attr_parse(head, sizeof(struct genlmsghdr), find_process, context);
}

/* Sends it, and looks with @take at what comes back. The kernel answers before sendto() returns. */
static int ask(const struct swapin *swapin, const struct nlmsghdr *head, mnl_cb_t take,
	       void *context)
{
	char buffer[MESSAGE_BYTES];
	ssize_t n = mnl_socket_sendto(swapin->socket, head, head->nlmsg_len);

	if (n >= 0)
		n = mnl_socket_recvfrom(swapin->socket, buffer, sizeof(buffer));
	if (n >= 0)
		n = mnl_cb_run(buffer, (size_t)n, swapin->sequence,
			       mnl_socket_get_portid(swapin->socket), take, context);
	return n < 0 ? -errno : 0;
}

int swapin_open(struct swapin *ret, struct why *why)
{
	struct swapin swapin = {.socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC)};
	char buffer[MESSAGE_BYTES];
	struct nlmsghdr *head;
	uint64_t ignored;
	int r = 0;

	if (!swapin.socket)
		return why_errno(why, -errno, "no netlink socket");
	if (mnl_socket_bind(swapin.socket, 0, MNL_SOCKET_AUTOPID) < 0)
		r = -errno;
	head = question(&swapin, buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(head, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
	if (r == 0)
		r = ask(&swapin, head, take_family, &swapin.family);
	if (r == 0 && !swapin.family)
		r = -EPROTONOSUPPORT;
	/* Whether we may ask is told only to who does. */
	if (r == 0)
		r = swapin_read(&swapin, getpid(), &ignored);
	if (r < 0) {
		swapin_close(&swapin);
		return why_errno(why, r,
				 "taskstats (netlink; needs CAP_NET_ADMIN and "
				 "CONFIG_TASK_DELAY_ACCT)");
	}
	*ret = swapin;
	return 0;
}

void swapin_close(struct swapin *swapin)
{
	if (swapin->socket)
		mnl_socket_close(swapin->socket);
	*swapin = (struct swapin){0};
}

int swapin_read(struct swapin *swapin, pid_t pid, uint64_t *ret_ns)
{
	char buffer[MESSAGE_BYTES];
	struct nlmsghdr *head = question(swapin, buffer, swapin->family, TASKSTATS_CMD_GET);
	uint64_t ns = UINT64_MAX;
	int r;

	mnl_attr_put_u32(head, TASKSTATS_CMD_ATTR_TGID, (uint32_t)pid);
	r = ask(swapin, head, take_stats, &ns);
	if (r == 0 && ns == UINT64_MAX)
		r = -EPROTONOSUPPORT;
	if (r == 0)
		*ret_ns = ns;
	return r;
}
