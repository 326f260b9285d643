/* SPDX-License-Identifier: MIT */
#include "record/waits/looks.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listen_on_loopback(struct sockaddr_in *out_address)
{
	socklen_t size = sizeof(*out_address);
	int self = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*out_address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	g_assert_cmpint(bind(self, (struct sockaddr *)out_address, size), ==, 0);
	g_assert_cmpint(listen(self, 32), ==, 0);
	g_assert_cmpint(getsockname(self, (struct sockaddr *)out_address, &size), ==, 0);
	return self;
}

static int connect_to(const struct sockaddr_in *address)
{
	int self = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	g_assert_cmpint(connect(self, (const struct sockaddr *)address, sizeof(*address)), ==, 0);
	return self;
}

static void watch(int epoll, int descriptor)
{
	struct epoll_event event = {.events = EPOLLIN};

	g_assert_cmpint(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event), ==, 0);
}

static void assert_text(int epoll, const char *text)
{
	char found[256] = "";
	int handle = -1;

	lode_waited_descriptor_text(getpid(), &handle, epoll, NULL, found, sizeof(found));
	g_assert_cmpstr(found, ==, text);
	if (handle >= 0)
		close(handle);
}

/* `peer`: NULL: it stays an epoll descriptor. */
static void assert_epoll(int epoll, const struct sockaddr_in *peer)
{
	char text[256] = "";
	int handle = -1;

	if (peer == NULL) {
		assert_text(epoll, "anon_inode:[eventpoll]");
		return;
	}
	lode_waited_descriptor_text(getpid(), &handle, epoll, NULL, text, sizeof(text));
	g_autofree char *begin = g_strdup_printf("tcp 127.0.0.1:%u from :", ntohs(peer->sin_port));
	if (strncmp(text, begin, strlen(begin)) != 0)
		g_error("%s, not %s", text, begin);
	if (handle >= 0)
		close(handle);
}

/* Whether the system copies descriptors of processes, since Linux 5.6. */
static bool has_copies(int socket)
{
	char text[256];
	int handle = -1;

	lode_waited_descriptor_text(getpid(), &handle, socket, NULL, text, sizeof(text));
	close(handle);
	return g_str_has_prefix(text, "tcp ");
}

/* Connections to one peer are what is waited for, also where the process is that peer itself; what
 * others send to a server is not told from answers. */
static void test_epoll(void)
{
	struct sockaddr_in one, other;
	int first = listen_on_loopback(&one), second = listen_on_loopback(&other);
	int client = connect_to(&one), accepted = accept(first, NULL, NULL);
	int epoll = epoll_create1(EPOLL_CLOEXEC), server = epoll_create1(EPOLL_CLOEXEC);
	int pair[2];

	if (!has_copies(client)) {
		g_test_skip("the system does not copy descriptors");
		return;
	}
	assert_epoll(epoll, NULL);
	g_assert_cmpint(pipe(pair), ==, 0);
	watch(epoll, pair[0]);
	assert_epoll(epoll, NULL);
	watch(epoll, first);
	assert_epoll(epoll, NULL);
	watch(epoll, client);
	assert_epoll(epoll, &one);
	watch(epoll, accepted);
	assert_epoll(epoll, &one);
	watch(epoll, connect_to(&one));
	assert_epoll(epoll, &one);
	watch(server, first);
	watch(server, accepted);
	assert_text(server, "anon_inode:[eventpoll] accepted");
	watch(server, connect_to(&other));
	assert_epoll(server, NULL);
	watch(epoll, connect_to(&other));
	assert_epoll(epoll, NULL);
	close(second);
}

/* Local connections and signals are requests, and a connection to another is not. */
static void test_local(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    epoll = epoll_create1(EPOLL_CLOEXEC), signals = epoll_create1(EPOLL_CLOEXEC);
	sigset_t none;

	/* a name in the abstract name space, by which nobody else goes */
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "lode-test-%d", (int)getpid());
	g_assert_cmpint(bind(listening, (struct sockaddr *)&address, sizeof(address)), ==, 0);
	g_assert_cmpint(listen(listening, 1), ==, 0);
	if (!has_copies(listen_on_loopback(&(struct sockaddr_in){0}))) {
		g_test_skip("the system does not copy descriptors");
		return;
	}
	watch(epoll, listening);
	assert_epoll(epoll, NULL);
	g_assert_cmpint(connect(client, (struct sockaddr *)&address, sizeof(address)), ==, 0);
	watch(epoll, accept(listening, NULL, NULL));
	assert_text(epoll, "anon_inode:[eventpoll] accepted");
	watch(epoll, client);
	assert_epoll(epoll, NULL);
	sigemptyset(&none);
	watch(signals, signalfd(-1, &none, SFD_CLOEXEC));
	assert_text(signals, "anon_inode:[eventpoll] accepted");
	watch(signals, client);
	assert_epoll(signals, NULL);
}

/* Of many nothing is said. */
static void test_many(void)
{
	struct sockaddr_in address;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	listen_on_loopback(&address);
	for (int i = 0; i < 16; i++)
		watch(epoll, connect_to(&address));
	char text[256];
	int handle = -1;
	lode_waited_descriptor_text(getpid(), &handle, epoll, NULL, text, sizeof(text));
	if (g_str_has_prefix(text, "tcp "))
		assert_epoll(epoll, &address);
	watch(epoll, connect_to(&address));
	assert_epoll(epoll, NULL);
	lode_waited_descriptor_text(getpid(), &handle, epoll + 1000, NULL, text, sizeof(text));
	g_assert_cmpstr(text, ==, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/waited_descriptor/epoll", test_epoll);
	g_test_add_func("/waited_descriptor/local", test_local);
	g_test_add_func("/waited_descriptor/many", test_many);
	return g_test_run();
}
