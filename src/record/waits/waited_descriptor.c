/* SPDX-License-Identifier: MIT */
#include "record/waits/looks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATH_BYTES = 64, TEXT_BYTES = 256 };

/* --- sockets --- */

typedef struct {
	struct sockaddr_storage address;
	socklen_t size; /* 0: it has none */
} End;

static End end_of(
	int descriptor, int (*name)(int descriptor, struct sockaddr *address, socklen_t *size))
{
	End end = {.size = sizeof(end.address)};

	if (name(descriptor, (struct sockaddr *)&end.address, &end.size) != 0)
		end.size = 0;
	return end;
}

static int option_of(int descriptor, int option)
{
	int value = 0;
	socklen_t size = sizeof(value);

	return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : 0;
}

static unsigned port_of(const struct sockaddr_storage *address)
{
	/* Both kinds have it at the same place. */
	return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
}

static void host_text(const struct sockaddr_storage *address, char *text, size_t size)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;
	char number[INET6_ADDRSTRLEN];

	if (address->ss_family == AF_INET) {
		inet_ntop(AF_INET, &four->sin_addr, text, (socklen_t)size);
	} else if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
		inet_ntop(AF_INET, &six->sin6_addr.s6_addr[12], text, (socklen_t)size);
	} else {
		inet_ntop(AF_INET6, &six->sin6_addr, number, sizeof(number));
		snprintf(text, size, "[%s]", number);
	}
}

static void internet_text(
	int descriptor, const struct sockaddr_storage *peer, char *text, size_t size)
{
	const char *kind = option_of(descriptor, SO_TYPE) == SOCK_STREAM ? "tcp" : "udp";
	const char *listening = option_of(descriptor, SO_ACCEPTCONN) != 0 ? " listening" : "";
	const End own = end_of(descriptor, getsockname), other = end_of(descriptor, getpeername);
	const struct sockaddr_storage *shown = other.size > 0 ? &other.address : peer;
	char host[INET6_ADDRSTRLEN + 2];

	if (listening[0] != '\0' || shown == NULL ||
		(shown->ss_family != AF_INET && shown->ss_family != AF_INET6))
		shown = &own.address;
	host_text(shown, host, sizeof(host));
	snprintf(text, size, "%s %s:%u%s from :%u", kind, host, port_of(shown), listening,
		port_of(&own.address));
}

/* One in the abstract name space begins with 0, as proc(5) with '@'. */
static size_t path_text(
	const struct sockaddr_storage *address, socklen_t address_size, char *text, size_t size)
{
	const struct sockaddr_un *local = (const void *)address;
	size_t before = offsetof(struct sockaddr_un, sun_path);
	size_t n = address_size > before ? address_size - before : 0;

	if (address->ss_family != AF_UNIX || n == 0)
		return 0;
	const char *path = local->sun_path;
	return (size_t)(path[0] == '\0'
				? snprintf(text, size, " @%.*s", (int)(n - 1), path + 1)
				: snprintf(text, size, " %.*s", (int)strnlen(path, n), path));
}

static void local_text(int descriptor, const struct sockaddr_storage *peer, char *text, size_t size)
{
	const End own = end_of(descriptor, getsockname), other = end_of(descriptor, getpeername);
	char path[sizeof(struct sockaddr_un) + 2] = "";
	const char *state = "";

	if (path_text(&other.address, other.size, path, sizeof(path)) == 0 &&
		path_text(&own.address, own.size, path, sizeof(path)) > 0)
		state = option_of(descriptor, SO_ACCEPTCONN) != 0 ? " listening"
		        : other.size > 0                          ? " accepted"
		                                                  : "";
	if (path[0] == '\0' && peer != NULL)
		path_text(peer, sizeof(struct sockaddr_un), path, sizeof(path));
	snprintf(text, size, "unix%s%s", path, state);
}

/* `peer` is used where the socket has none yet; NULL: none is known. */
static void socket_text(
	int descriptor, const struct sockaddr_storage *peer, char *text, size_t size)
{
	switch (option_of(descriptor, SO_DOMAIN)) {
	case AF_INET:
	case AF_INET6:
		internet_text(descriptor, peer, text, size);
		break;
	case AF_UNIX:
		local_text(descriptor, peer, text, size);
		break;
	case AF_NETLINK:
		snprintf(text, size, "netlink");
		break;
	default:
		break;
	}
}

/* The right to a socket is the same as that to its thread's calls. Before Linux 5.6 its name stays
 * as it is. */
static void describe_socket(pid_t pid, int *handle, int number, const struct sockaddr_storage *peer,
	char *text, size_t size)
{
	if (*handle < 0)
		*handle = (int)syscall(SYS_pidfd_open, pid, 0);
	int descriptor = (int)syscall(SYS_pidfd_getfd, *handle, number, 0);
	if (descriptor < 0)
		return;
	socket_text(descriptor, peer, text, size);
	close(descriptor);
}

static void describe(pid_t pid, int *handle, int number, const struct sockaddr_storage *peer,
	char *text, size_t size)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
	ssize_t n = readlink(path, text, size - 1);
	text[MAX(n, 0)] = '\0';
	if (g_str_has_prefix(text, "socket:["))
		describe_socket(pid, handle, number, peer, text, size);
}

/* --- epoll --- */

/* More descriptors are a server's. */
enum { MOST_SOCKETS = 16 };

typedef struct {
	char text[TEXT_BYTES]; /* as of socket_text() */
	long own, other;       /* ports; 0: none */
	bool is_listening;
} Socket;

/* What an epoll descriptor waits for. */
typedef struct {
	Socket all[MOST_SOCKETS]; /* of TCP */
	size_t n;
	bool has_requests; /* beside them: local connections that were accepted, or signals */
	bool has_peers;    /* other local ones */
} Polled;

/* "tcp 10.0.0.1:80 from :40000" */
static bool parse_socket(Socket *self)
{
	const char *from = strstr(self->text, " from :");

	if (!g_str_has_prefix(self->text, "tcp ") || from == NULL)
		return false;
	size_t n = (size_t)(from - self->text);
	const char *colon = g_strrstr_len(self->text, (gssize)n, ":");
	self->is_listening = strstr(self->text, " listening") != NULL;
	self->own = strtol(from + strlen(" from :"), NULL, 10);
	self->other = colon != NULL ? strtol(colon + 1, NULL, 10) : 0;
	return true;
}

/* Whether a connection was accepted at a port that the process listens at. */
static bool was_accepted(const Socket *all, size_t n, const Socket *self)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].is_listening && all[i].own == self->own)
			return true;
	return false;
}

/* Whether the process has both ends of a connection. */
static bool is_from_itself(const Socket *all, size_t n, const Socket *self)
{
	for (size_t i = 0; i < n; i++)
		if (!all[i].is_listening && all[i].own == self->other && all[i].other == self->own)
			return true;
	return false;
}

static bool is_same_peer(const Socket *self, const Socket *other)
{
	size_t n = strcspn(self->text, " ") + 1;

	n += strcspn(self->text + n, " ");
	return strncmp(self->text, other->text, n) == 0 && other->text[n] == ' ';
}

static void add_other(Polled *self, const char *text)
{
	if (strcmp(text, "anon_inode:[signalfd]") == 0 || g_str_has_suffix(text, " accepted"))
		self->has_requests = true;
	else if (g_str_has_prefix(text, "unix") && !g_str_has_suffix(text, " listening"))
		self->has_peers = true;
}

/* ("tfd:        7 events: …" of proc(5)) False: there are too many. */
static bool list_polled(pid_t pid, int *handle, int number, Polled *out)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/fdinfo/%d", (int)pid, number);
	g_autofree char *text = NULL;

	*out = (Polled){0};
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return false;
	for (const char *at = text; (at = strstr(at, "tfd:")) != NULL;) {
		at += strlen("tfd:");
		if (out->n == MOST_SOCKETS)
			return false;
		Socket *socket = &out->all[out->n];
		describe(pid, handle, (int)strtol(at, NULL, 10), NULL, socket->text,
			sizeof(socket->text));
		if (parse_socket(socket))
			out->n++;
		else
			add_other(out, socket->text);
	}
	return true;
}

/* The only peer that it waits for: requests of others may be what it waits for, too. Where there is
 * no peer, and there may be requests, it is a server's. */
static void describe_epoll(pid_t pid, int *handle, int number, char *text, size_t size)
{
	Polled polled;
	const Socket *only = NULL;

	if (!list_polled(pid, handle, number, &polled))
		return;
	bool has_requests = polled.has_requests, has_peers = polled.has_peers;
	for (size_t i = 0; i < polled.n; i++) {
		const Socket *one = &polled.all[i];
		bool is_accepted = !one->is_listening && was_accepted(polled.all, polled.n, one);
		has_requests |= is_accepted && !is_from_itself(polled.all, polled.n, one);
		if (is_accepted || one->is_listening || one->other == 0)
			continue;
		has_peers |= only != NULL && !is_same_peer(only, one);
		only = one;
	}
	if (has_requests && !has_peers && only == NULL)
		g_strlcat(text, " accepted", size);
	else if (only != NULL && !has_requests && !has_peers)
		g_strlcpy(text, only->text, size);
}

void lode_waited_descriptor_text(pid_t pid, int *handle, int number,
	const struct sockaddr_storage *peer, char *text, size_t size)
{
	describe(pid, handle, number, peer, text, size);
	if (strcmp(text, "anon_inode:[eventpoll]") == 0)
		describe_epoll(pid, handle, number, text, size);
}
