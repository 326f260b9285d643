/* SPDX-License-Identifier: MIT */
/*
 * Does what programs do to their surroundings and prints what it finds: the same with something in
 * front of malloc as without. Each line names what went wrong, if anything did.
 *
 *   conduct [LIBRARY]      a library to load and unload
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void *early;
static void *volatile sink;

__attribute__((constructor)) static void allocate_early(void)
{
	early = malloc(100);
}

static void check(const char *what, int is_right)
{
	printf("%s: %s\n", what, is_right ? "right" : "WRONG");
}

static void check_errno(void)
{
	int is_kept = 1;

	for (int i = 0; i < 100; i++) {
		errno = 4711;
		sink = malloc(50);
		free(sink);
		is_kept &= errno == 4711;
	}
	sink = malloc(SIZE_MAX / 2 - 100);
	check("errno", is_kept && sink == NULL && errno == ENOMEM);
}

static void check_alignment(void)
{
	int is_right = 1;

	for (size_t alignment = 16; alignment <= 65536; alignment *= 2) {
		void *block = aligned_alloc(alignment, alignment);
		is_right &= (uintptr_t)block % alignment == 0;
		free(block);
		block = malloc(alignment + 1);
		is_right &= (uintptr_t)block % 16 == 0 && malloc_usable_size(block) > alignment;
		free(block);
	}
	check("alignment", is_right);
}

static void *start(void *data)
{
	free(malloc((size_t)data % 100 + 1));
	return data;
}

static void *leave(void *data)
{
	sink = malloc(10);
	pthread_exit(data);
}

static void check_threads(void)
{
	int is_right = 1;

	for (uintptr_t i = 0; i < 600; i++) {
		pthread_t thread;
		void *result = NULL;
		if (pthread_create(&thread, NULL, i % 2 ? start : leave, (void *)i) != 0)
			continue;
		pthread_join(thread, &result);
		is_right &= result == (void *)i;
	}
	check("threads", is_right);
}

static void *wait_long(void *data)
{
	free(malloc(10));
	sleep(100);
	return data;
}

static void check_cancel(void)
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, wait_long, NULL);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	check("cancel", result == PTHREAD_CANCELED);
}

static int exit_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		char *block = malloc(33);
		memset(block, 1, 33);
		free(block);
		free(early);
		_exit(early != NULL ? 5 : 6);
	}
	check("fork", exit_of(pid) == 5);
	pid = (pid_t)syscall(SYS_fork);
	if (pid == 0) {
		free(malloc(44));
		_exit(7);
	}
	check("bare fork", exit_of(pid) == 7);
	pid = vfork();
	if (pid == 0) {
		sink = malloc(55);
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	check("vfork", exit_of(pid) == 0);
}

/* The lowest free one; what is open is what the shell gave us. */
static void check_descriptors(void)
{
	int n = 0, lowest = dup(0);
	DIR *listing;

	close(lowest);
	listing = opendir("/proc/self/fd");
	while (listing != NULL && readdir(listing) != NULL)
		n++;
	if (listing != NULL)
		closedir(listing);
	printf("descriptors: %d, the next is %d\n", n, lowest);
	fflush(stdout);
	for (int i = 3; i < 1024; i++)
		close(i);
	check("directory", chdir("/") == 0);
	for (int i = 0; i < 20000; i++) {
		sink = malloc(100);
		free(sink);
	}
	check("closed", dup(0) == 3);
}

static void allocate_in_handler(int number)
{
	(void)number;
	free(malloc(20));
}

/* Comes while nothing else is going on, and so may allocate. */
static void check_signal(void)
{
	signal(SIGUSR1, allocate_in_handler);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	check("signal", 1);
}

static ucontext_t outside, inside;

static void allocate_aside(void)
{
	free(malloc(30));
}

/* On a stack that is none of the thread's, with nothing readable above it. */
static void check_other_stack(void)
{
	size_t size = 65536;
	char *stack = mmap(
		NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(stack + size, 4096, PROT_NONE);
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = size;
	inside.uc_link = &outside;
	makecontext(&inside, allocate_aside, 0);
	swapcontext(&outside, &inside);
	check("other stack", 1);
}

static void check_libraries(const char *path)
{
	int is_right = 1;

	for (int i = 0; i < 20 && path != NULL; i++) {
		void *library = dlopen(path, RTLD_NOW);
		is_right &= library != NULL && dlclose(library) == 0;
	}
	check("libraries", is_right && dlopen("/nonexistent.so", RTLD_NOW) == NULL);
}

static void check_locked(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) == 0) {
		for (int i = 0; i < 1000; i++)
			sink = malloc(100);
		munlockall();
	}
	check("locked", 1);
}

/* Where blocks of the heap lie; without randomisation the same each time. */
static void print_heap(void)
{
	printf("heap: %p", early);
	for (size_t size = 10; size < 20000; size *= 3) {
		sink = malloc(size);
		printf(" %p", sink);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	static char line[256];

	setvbuf(stdout, line, _IOLBF, sizeof(line));
	check("before main", early != NULL);
	print_heap();
	check_errno();
	check_alignment();
	check_threads();
	check_cancel();
	check_fork();
	check_signal();
	check_other_stack();
	check_libraries(argc > 1 ? argv[1] : NULL);
	check_locked();
	check_descriptors();
	return 0;
}
