/* SPDX-License-Identifier: MIT */
/*
 * Stands in for Node.js: makes code at run time, writes it down as V8 does with --perf-prof, and
 * works in it for a while. When it is open, it writes into the file wrote.PID where its dump is.
 *
 *   node --v8-options       the options in LODE_TEST_NODE_OPTIONS
 *   node WORD…
 *       foreign     another process's file of such a name appears in the current directory
 *       broken      its dump has a record with more code than it is long
 *       unmapped    as where nothing may be mapped to be executed
 *       child       a process that it starts does the work, in the directory "elsewhere"
 *       waits       and goes on when the file "go" is there
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MACHINE = 62 };

/* f(n): counts down */
static const uint8_t code[] = {0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

typedef struct {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time_ns, flags;
} Header;

typedef struct {
	uint32_t kind, size;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t vma, address, code_size, index;
	char name[8];
	uint8_t code[sizeof(code)];
} __attribute__((packed)) Record;

static int n_words;
static char **words;

static const char *find(const char *start)
{
	for (int i = 0; i < n_words; i++)
		if (strncmp(words[i], start, strlen(start)) == 0)
			return words[i];
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		exit(3);
}

static void write_dump(uint64_t address)
{
	static const char option[] = "--perf-prof-path=";
	const char *given = find(option);
	char path[8192], told[64];
	uint32_t pid = (uint32_t)getpid();
	Header header = {0x4a695444, 1, sizeof(header), MACHINE, 0, pid, now_ns(), 0};
	Record record = {0, sizeof(record), now_ns(), pid, pid, address, address, sizeof(code), 1,
		"JS:*hot", {0}};

	memcpy(record.code, code, sizeof(code));
	if (find("broken"))
		record.code_size = 1 << 20;
	snprintf(path, sizeof(path), "%s/jit-%u.dump", given != NULL ? given + strlen(option) : ".",
		pid);
	int file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
	if (!find("unmapped") &&
		mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
		exit(3);
	if (write(file, &header, sizeof(header)) < 0 || write(file, &record, sizeof(record)) < 0)
		exit(3);
	snprintf(told, sizeof(told), "wrote.%u", pid);
	write_text(told, path);
}

static void work(void)
{
	void *made = mmap(
		NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		exit(3);
	memcpy(made, code, sizeof(code));
	write_dump((uint64_t)(uintptr_t)made);
	for (int i = 0; i < 20; i++)
		((void (*)(uint32_t))made)(10000000);
	if (find("foreign"))
		write_text("jit-77777.dump", "a dump of somebody else");
	while (find("waits") && access("go", F_OK) != 0)
		usleep(10000);
}

int main(int argc, char **argv)
{
	n_words = argc;
	words = argv;
	if (find("--v8-options")) {
		const char *options = getenv("LODE_TEST_NODE_OPTIONS");
		return puts(options != NULL ? options : "") < 0;
	}
	if (!find("child")) {
		work();
		return 0;
	}
	if (fork() == 0) {
		if (chdir("elsewhere") != 0)
			exit(3);
		work();
		exit(0);
	}
	wait(NULL);
	return 0;
}
