/* SPDX-License-Identifier: MIT */
/* Code that comes and goes, changes, or cannot be read. */
#include "odd.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* mov $n, %eax; mov %edi, %ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char template[] = {
	0xb8, 0, 0, 0, 0, 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

typedef int (*Code)(int rounds);

static unsigned char *new_page(size_t size, int protection)
{
	return mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Each function is made, called a hundred times, and made anew. */
static int just_in_time(void)
{
	unsigned char *page = new_page(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	Code code;
	memcpy(&code, &(void *){page}, sizeof code);
	memcpy(page, template, sizeof template);
	for (int i = 0; i < odd_rounds(6000); i++) {
		memcpy(page + 1, &i, sizeof i);
		for (int j = 0; j < 10; j++)
			ODD_CHECK(code(3000) == i);
	}
	printf("called\n");
	return 0;
}

/* Code that is gone as soon as it has been called. */
static int unmapped(void)
{
	for (int i = 0; i < odd_rounds(4000); i++) {
		unsigned char *page = new_page(4096, PROT_READ | PROT_WRITE);
		Code code;
		memcpy(&code, &(void *){page}, sizeof code);
		memcpy(page, template, sizeof template);
		memcpy(page + 1, &i, sizeof i);
		mprotect(page, 4096, PROT_READ | PROT_EXEC);
		ODD_CHECK(code(10000) == i);
		munmap(page, 4096);
	}
	printf("called\n");
	return 0;
}

/* The loop changes the number that the next round loads. */
static int rewriting(void)
{
	/* xor %eax,%eax; mov %edi,%ecx; 1: add $0,%eax (imm8 at 6); incb -8(%rip)… */
	static const unsigned char loop[] = {
		0x31,
		0xc0, /* xor %eax, %eax */
		0x89,
		0xf9, /* mov %edi, %ecx */
		0x05,
		0x00,
		0x00,
		0x00,
		0x00, /* 1: add $0, %eax */
		0xfe,
		0x05,
		0xf6,
		0xff,
		0xff,
		0xff, /* incb the number */
		0xff,
		0xc9, /* dec %ecx */
		0x75,
		0xf1, /* jnz 1b */
		0xc3,
	};
	unsigned char *page = new_page(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	Code code;
	memcpy(&code, &(void *){page}, sizeof code);
	memcpy(page, loop, sizeof loop);
	long sum = 0;
	for (long i = 0; i < odd_rounds(4000); i++)
		sum += code(256);
	printf("%ld\n", sum);
	return 0;
}

/* Code that can be executed and, where there are protection keys, not read. */
static int execute_only(void)
{
	unsigned char *page = new_page(4096, PROT_READ | PROT_WRITE);
	Code code;
	memcpy(&code, &(void *){page}, sizeof code);
	memcpy(page, template, sizeof template);
	mprotect(page, 4096, PROT_EXEC);
	for (long i = 0; i < odd_rounds(15000); i++)
		ODD_CHECK(code(20000) == 0);
	printf("called\n");
	return 0;
}

/* As execute_only(), of a file: known code that may not be readable. */
static int execute_only_file(void)
{
	int fd = memfd_create("odd", MFD_CLOEXEC);
	ODD_CHECK(write(fd, template, sizeof template) == sizeof template &&
		  ftruncate(fd, 4096) == 0);
	void *page = mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE, fd, 0);
	Code code;
	memcpy(&code, &page, sizeof code);
	for (long i = 0; i < odd_rounds(15000); i++)
		ODD_CHECK(code(20000) == 0);
	printf("called\n");
	return 0;
}

/* Code that ends with its page, before nothing: who reads on would fault. */
static int at_end_of_page(bool is_file)
{
	unsigned char *pages = new_page(8192, PROT_READ | PROT_WRITE);
	unsigned char *begin = pages + 4096 - sizeof template;
	Code code;
	memcpy(&code, &(void *){begin}, sizeof code);
	munmap(pages + 4096, 4096);
	if (is_file) {
		char zero[4096] = "";
		int fd = memfd_create("odd", MFD_CLOEXEC);
		memcpy(zero + 4096 - sizeof template, template, sizeof template);
		ODD_CHECK(write(fd, zero, 4096) == 4096);
		mmap(pages, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
		close(fd);
	} else {
		memcpy(begin, template, sizeof template);
		mprotect(pages, 4096, PROT_READ | PROT_EXEC);
	}
	for (long i = 0; i < odd_rounds(150000); i++)
		ODD_CHECK(code(2000) == 0);
	printf("called\n");
	return 0;
}

static int end_of_page(void)
{
	return at_end_of_page(false);
}

static int end_of_file_page(void)
{
	return at_end_of_page(true);
}

/* A protection key of its own keeps the data, and so the rest of the code, from being read. */
static int keyed(void)
{
	int key = pkey_alloc(0, 0);
	unsigned char *page = new_page(4096, PROT_READ | PROT_WRITE);
	if (key < 0) {
		printf("no keys: %d\n", (int)(odd_work(1, odd_rounds(20000000)) & 0xff));
		return 0;
	}
	pkey_mprotect(page, 4096, PROT_READ | PROT_WRITE, key);
	for (long i = 0; i < odd_rounds(300000); i++) {
		pkey_set(key, 0);
		page[0] = (unsigned char)i;
		pkey_set(key, PKEY_DISABLE_ACCESS);
		odd_work(1, 50);
		ODD_CHECK(pkey_get(key) == PKEY_DISABLE_ACCESS);
	}
	printf("keyed\n");
	return 0;
}

static int call_library(int n, bool is_closed)
{
	void *library = dlopen(ODD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	int (*call)(int) = NULL;
	if (library == NULL) {
		printf("%s\n", dlerror());
		return -1;
	}
	void *symbol = dlsym(library, "odd_library_call");
	memcpy(&call, &symbol, sizeof call);
	int result = call(n);
	if (is_closed)
		dlclose(library);
	return result;
}

static int library(void)
{
	long sum = 0;
	call_library(0, false);
	for (int i = 0; i < odd_rounds(6000); i++)
		sum += call_library(i, false) - i;
	printf("%ld\n", sum);
	return 0;
}

static int library_closed(void)
{
	long sum = 0;
	for (int i = 0; i < odd_rounds(1500); i++)
		sum += call_library(i, true) - i;
	printf("%ld\n", sum);
	return 0;
}

static void *open_and_close(void *data)
{
	long sum = 0;
	for (int i = 0; i < odd_rounds(800); i++)
		sum += call_library(i, true) - i;
	return (void *)(sum + (long)data);
}

static int libraries_in_threads(void)
{
	pthread_t threads[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, open_and_close, NULL);
	for (int i = 0; i < 2; i++) {
		void *sum;
		pthread_join(threads[i], &sum);
		printf("%ld\n", (long)sum);
	}
	return 0;
}

__attribute__((noinline)) static int count_frames(int depth)
{
	void *frames[64];
	volatile int n = depth == 0 ? backtrace(frames, 64) : count_frames(depth - 1);
	return n;
}

static int backtraces(void)
{
	int first = count_frames(20);
	for (long i = 0; i < odd_rounds(20000); i++)
		ODD_CHECK(count_frames(20) == first);
	printf("%d\n", first > 20);
	return 0;
}

/* Into the middle of an instruction, which is another one. */
static int overlapping(void)
{
	long n = odd_rounds(60000000), sum = 0;
	__asm__ volatile(
		"1: jmp 2f + 2\n"
		"2: .byte 0x48, 0xb8\n inc %0\n jmp 3f\n .byte 0, 0, 0\n"
		"3: .byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
		"dec %1\n jnz 1b"
		: "+r"(sum), "+r"(n)
		:
		: "rax", "cc");
	printf("%ld\n", sum);
	return 0;
}

const OddKind odd_code[] = {
	{"code-jit", just_in_time, "none"},
	{"code-unmapped", unmapped, "none"},
	{"code-rewriting", rewriting, "none"},
	{"code-execute-only", execute_only, "none"},
	{"code-execute-only-file", execute_only_file},
	{"code-page-end", end_of_page, "none"},
	{"code-page-end-file", end_of_file_page},
	{"code-keys", keyed},
	{"code-library", library},
	{"code-library-closed", library_closed},
	{"code-library-threads", libraries_in_threads},
	{"code-backtrace", backtraces},
	{"code-overlapping", overlapping},
	{0},
};
