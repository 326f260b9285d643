/* SPDX-License-Identifier: MIT */
/*
 * The start in a process: finds whether it can be stepped, and announces it to the recorder, which
 * then opens the events. Nothing is done without LODE_WINDOWS.
 */
#include "../left_environment.h"
#include "../process_log.h"
#include "budget.h"
#include "known_code.h"
#include "real_signals.h"
#include "requests.h"
#include "short_programs.h"
#include "stepping.h"
#include "thread_setup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Functions of sanitizers that a program is linked with, as a library or statically. */
extern void __asan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

#define DIRECTORY_VARIABLE "LODE_WINDOWS"
#define SHARE_VARIABLE "LODE_WINDOWS_SHARE"
#define PATHS_VARIABLE "LODE_WINDOWS_PATHS"
#define TIMER_VARIABLE "LODE_WINDOWS_TIMER"
#define SEED_VARIABLE "LODE_WINDOWS_SEED"
#define LIBRARY "liblode-windows.so"

enum { DEFAULT_SHARE_PPM = 30000, MAX_SHARE_PPM = 900000 };

static char directory[PATH_MAX];

/* --- what stands in the way --- */

static bool is_note_of_go(const char *note, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *head = (const ElfW(Nhdr) *)note;
		size_t name = (head->n_namesz + 3) & ~(size_t)3;
		size_t whole = sizeof(*head) + name + ((head->n_descsz + 3) & ~(size_t)3);
		if (head->n_namesz == 3 + 1 && whole <= size && memcmp(head + 1, "Go", 3) == 0)
			return true;
		if (whole > size)
			return false;
		note += whole;
		size -= whole;
	}
	return false;
}

/* Their run-times put off or change signals, and keep all addresses but some to themselves: nothing
 * may be mapped. */
static bool is_sanitized(void)
{
	return __asan_init != NULL || __hwasan_init != NULL || __lsan_init != NULL ||
	       __msan_init != NULL || __tsan_init != NULL;
}

/* Go sets its handlers by system calls, which no wrapper sees. */
static int find_go(struct dl_phdr_info *object, size_t size, void *data)
{
	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		if (segment->p_type == PT_NOTE &&
			is_note_of_go((const char *)(object->dlpi_addr + segment->p_vaddr),
				segment->p_memsz))
			*(bool *)data = true;
	}
	return *(bool *)data;
}

/* A number of /proc/PID/status; 0 when it is not there. */
static long read_status(long pid, const char *name)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return 0;
	long n = syscall(SYS_read, descriptor, text, sizeof(text) - 1);
	syscall(SYS_close, descriptor);
	text[n > 0 ? n : 0] = '\0';
	const char *line = strstr(text, name);
	return line != NULL ? strtol(line + strlen(name), NULL, 10) : 0;
}

/* In a container everything is limited, lode too, and all that is needed is allowed: a program has
 * limits of its own when it has more of them than its parent. */
static bool is_limited(void)
{
	const char *name = "\nSeccomp_filters:";
	long own = read_status(getpid(), name);

	return own > 0 && own > read_status(getppid(), name);
}

/* The recorder itself looks for debuggers and limits before it opens an event. */
static LodeWindowObstacle find_obstacle(bool is_timed)
{
	struct sigaction action;
	sigset_t mask;
	bool is_go = false;

	if (real_signals()->sigaction(SIGTRAP, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
		return LODE_WINDOW_OBSTACLE_HANDLER;
	if (real_signals()->pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 &&
		sigismember(&mask, SIGTRAP) == 1)
		return LODE_WINDOW_OBSTACLE_BLOCKED;
	if (is_timed && read_status(getpid(), "\nTracerPid:") != 0)
		return LODE_WINDOW_OBSTACLE_TRACED;
	if (is_timed && is_limited())
		return LODE_WINDOW_OBSTACLE_SECCOMP;
	dl_iterate_phdr(find_go, &is_go);
	if (is_go)
		return LODE_WINDOW_OBSTACLE_RUNTIME;
	/* Code cannot be found: the C library is too old. */
	return known_code_begin() ? LODE_WINDOW_OBSTACLE_NONE : LODE_WINDOW_OBSTACLE_EVENT;
}

/* --- start --- */

/* Opened for reading, too: no signal comes when there is no reader. */
static void announce(int folder)
{
	const uint32_t pid = (uint32_t)syscall(SYS_getpid);
	long descriptor = syscall(
		SYS_openat, folder, "announce", O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);

	if (descriptor < 0)
		return;
	syscall(SYS_write, descriptor, &pid, sizeof(pid));
	syscall(SYS_close, descriptor);
}

static void begin_child(void)
{
	int code = errno;

	short_programs_begin_child();

	if (stepping_is_limited()) {
		threads_begin_child();
		return;
	}
	const uint64_t began_ns = budget_used_ns();
	stepping_open();
	threads_begin_child();
	int folder = stepping_is_on() ? process_log_open_folder(directory) : -1;
	if (folder >= 0) {
		announce(folder);
		syscall(SYS_close, folder);
	}
	budget_charge_begin(began_ns);
	errno = code;
}

static uint32_t read_share(void)
{
	const char *given = getenv(SHARE_VARIABLE);
	double ppm = given != NULL ? strtod(given, NULL) * 1e6 : DEFAULT_SHARE_PPM;

	if (!(ppm >= 1))
		return 0;
	return ppm < MAX_SHARE_PPM ? (uint32_t)ppm : MAX_SHARE_PPM;
}

/* Descriptor of the directory; −1: none. If the recorder has ended, programs that are started from
 * here on do not get the library: another user may have a directory of that name. */
static int open_folder(const char *given)
{
	if (given == NULL || given[0] != '/' || strlen(given) >= sizeof(directory))
		return -1;
	strcpy(directory, given);
	int folder = process_log_open_folder(directory);
	if (folder < 0)
		remove_from_environment(LIBRARY, DIRECTORY_VARIABLE);
	return folder;
}

static void begin_in(int folder, uint32_t share_ppm, const SteppingOptions *options)
{
	if (!budget_open(folder, share_ppm) || !stepping_begin(options))
		return;
	LodeWindowObstacle obstacle = find_obstacle(options->is_timed);
	if (obstacle != LODE_WINDOW_OBSTACLE_NONE)
		stepping_stop(obstacle);
	stepping_begin_program();
	stepping_open();
	if (!stepping_is_on())
		return;
	pthread_atfork(NULL, NULL, begin_child);
	threads_begin(options->is_timed);
	requests_begin(directory);
	announce(folder);
}

__attribute__((constructor)) static void begin(void)
{
	const char *seed = getenv(SEED_VARIABLE);
	const SteppingOptions options = {
		.has_registers = getenv(PATHS_VARIABLE) == NULL,
		.is_timed = getenv(TIMER_VARIABLE) != NULL,
		.seed = seed != NULL ? strtoull(seed, NULL, 0) : 0,
		.directory = directory,
	};
	const uint32_t share_ppm = read_share();
	int code = errno;

	if (share_ppm == 0 || is_sanitized())
		return;
	int folder = open_folder(getenv(DIRECTORY_VARIABLE));
	if (folder >= 0) {
		const uint64_t began_ns = budget_used_ns();
		begin_in(folder, share_ppm, &options);
		budget_charge_begin(began_ns);
		if (!stepping_is_on())
			budget_close();
		syscall(SYS_close, folder);
	}
	errno = code;
}

__attribute__((destructor)) static void end(void)
{
	int code = errno;

	stepping_end_program();
	errno = code;
}
