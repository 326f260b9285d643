/* SPDX-License-Identifier: MIT */
#include "requests.h"

#include "../process_log.h"
#include "sources/windows/window_log_format.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* The recorder answers in some 50 µs, or later on a busy machine. Without an event there are no
 * windows; a signal that comes where it must not could end the program. */
enum { OPEN_LIMIT_MS = 200, CLOSE_LIMIT_MS = 2000 };

static const char *directory;

void requests_begin(const char *given)
{
	directory = given;
}

/* The path of a socket is short: a long one leads through the descriptor of its directory. */
static void put_path(char *path, size_t size, int folder, const char *name)
{
	const char *end = path + size;
	char *at = path;

	if (strlen(directory) + 1 + strlen(name) < size)
		at = append_text(at, end, directory);
	else
		at = append_number(append_text(at, end, "/proc/self/fd/"), end, (uint32_t)folder);
	append_text(append_text(at, end, "/"), end, name);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether the other end was closed in time. */
static bool wait_for_end(long descriptor, long limit_ms)
{
	const long end = now_ms() + limit_ms;
	struct pollfd wait = {.fd = (int)descriptor, .events = POLLIN};
	long left = limit_ms, n = -1;

	while (left > 0) {
		struct timespec limit = {left / 1000, left % 1000 * 1000000};
		n = syscall(SYS_ppoll, &wait, 1L, &limit, NULL, 0L);
		if (n > 0 || (n < 0 && errno != EINTR))
			break;
		left = end - now_ms();
	}
	return n > 0;
}

/* If no process listens, the recorder has ended, and its events with it. */
static bool is_over(int code)
{
	return code == ECONNREFUSED || code == ENOENT;
}

static bool ask_in(int folder, const char *name, long limit_ms)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	long descriptor = syscall(
		SYS_socket, (long)AF_UNIX, (long)(SOCK_SEQPACKET | SOCK_CLOEXEC), 0L);
	long result;

	if (descriptor < 0)
		return false;
	put_path(address.sun_path, sizeof(address.sun_path), folder, name);
	do
		result = syscall(SYS_connect, descriptor, &address, sizeof(address));
	while (result != 0 && errno == EINTR);
	bool is_done = result == 0 ? wait_for_end(descriptor, limit_ms) : is_over(errno);
	syscall(SYS_close, descriptor);
	return is_done;
}

static bool ask(const char *name, long limit_ms)
{
	const int code = errno;
	const int folder = process_log_open_folder(directory);
	bool is_done = folder >= 0 ? ask_in(folder, name, limit_ms) : is_over(errno);

	if (folder >= 0)
		syscall(SYS_close, folder);
	errno = code;
	return is_done;
}

void requests_open_event(void)
{
	ask(LODE_WINDOW_OPEN_NAME, OPEN_LIMIT_MS);
}

bool requests_close_event(void)
{
	return ask(LODE_WINDOW_CLOSE_NAME, CLOSE_LIMIT_MS);
}
