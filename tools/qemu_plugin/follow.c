/* SPDX-License-Identifier: MIT */
#include "follow.h"

#include "guest_memory.h"
#include "program_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	MAX_SCRIPTS = 5,            /* one that is the interpreter of another, and so on */
	MAX_WORDS = 1 << 20,        /* of a command line or an environment */
	MAX_WORD_BYTES = 32 * 4096, /* the kernel's bound of one */
	MAX_COMMAND_LINE = 8 << 20, /* of QEMU's own */
	COMMAND_BYTES = 4096,
	MASK_BYTES = sizeof(uint64_t), /* of a set of signals, as the kernel has it */
};

/* Texts, of which each is ours. */
typedef struct {
	char **words; /* NULL-terminated once it is finished */
	size_t n, room;
	bool is_failed;
} Words;

typedef struct {
	char *file; /* what QEMU opens */
	char *name; /* argv[0] */
	Words arguments, environment;
	bool is_recorded;
} FollowedProgram;

static struct {
	char emulator[PATH_MAX]; /* its file */
	char program[PATH_MAX];  /* what it runs */
	char command[COMMAND_BYTES];
	Words start;   /* of QEMU's command line, up to "-plugin" */
	char *plugin;  /* what stands after that, without what is for one program only */
	char *library; /* the plugin's file */
	char *needed;
	Words only;
	bool is_on, is_recorded;
} own = {.is_recorded = true};

/* See recorder.c for why. */
static __thread bool blocks_all __attribute__((tls_model("initial-exec")));

/* ---- texts ---- */

static void insert(Words *self, size_t at, char *word)
{
	if (word == NULL)
		self->is_failed = true;
	if (!self->is_failed && self->n + 1 >= self->room) {
		size_t room = self->room > 0 ? self->room * 2 : 64;
		char **words = realloc(self->words, room * sizeof(*words));
		self->is_failed = words == NULL;
		self->words = words != NULL ? words : self->words;
		self->room = words != NULL ? room : self->room;
	}
	if (self->is_failed) {
		free(word);
		return;
	}
	memmove(self->words + at + 1, self->words + at, (self->n - at) * sizeof(*self->words));
	self->words[at] = word;
	self->words[++self->n] = NULL;
}

static void add(Words *self, const char *word)
{
	insert(self, self->n, word != NULL ? strdup(word) : NULL);
}

static void clear(Words *self)
{
	for (size_t i = 0; i < self->n; i++)
		free(self->words[i]);
	free(self->words);
	*self = (Words){0};
}

static char *join(const char *a, const char *b, const char *c)
{
	char *text = malloc(strlen(a) + strlen(b) + strlen(c) + 1);

	if (text != NULL)
		strcpy(stpcpy(stpcpy(text, a), b), c);
	return text;
}

/* ---- what we were started with ---- */

/* "qemu-x86_64", "-cpu", "max", "-plugin", "…", "-E", "X=…", "-0", "x", "/bin/x", "a" */
static bool read_command_line(Words *out)
{
	char *text = malloc(MAX_COMMAND_LINE);
	int descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t n = 1;

	while (text != NULL && descriptor >= 0 && n > 0 && size < MAX_COMMAND_LINE) {
		n = read(descriptor, text + size, MAX_COMMAND_LINE - size);
		size += n > 0 ? (size_t)n : 0;
	}
	if (descriptor >= 0)
		close(descriptor);
	for (size_t at = 0; at < size && memchr(text + at, '\0', size - at) != NULL;) {
		add(out, text + at);
		at += strlen(text + at) + 1;
	}
	free(text);
	return n == 0 && !out->is_failed;
}

static void keep_command(const Words *line, size_t program)
{
	size_t length = 0;

	for (size_t i = program; i < line->n && length + 1 < COMMAND_BYTES; i++) {
		int n = snprintf(own.command + length, COMMAND_BYTES - length, "%s%s",
			i > program ? " " : "", line->words[i]);
		length += n > 0 ? (size_t)n : 0;
	}
}

static bool read_own_line(void)
{
	Words line = {0};
	size_t plugin = 0, program = 0;
	ssize_t n = readlink("/proc/self/exe", own.emulator, sizeof(own.emulator) - 1);
	bool is_read = n > 0 && read_command_line(&line);

	for (size_t i = 1; is_read && i + 2 < line.n && program == 0; i++) {
		if (strcmp(line.words[i], "-plugin") == 0)
			plugin = ++i;
		else if (strcmp(line.words[i], "-E") == 0)
			i++;
		else if (strcmp(line.words[i], "-0") == 0)
			program = i + 2;
	}
	is_read = plugin != 0 && program != 0;
	for (size_t i = 0; is_read && i < plugin; i++)
		add(&own.start, line.words[i]);
	if (is_read) {
		own.library = strndup(line.words[plugin], strcspn(line.words[plugin], ","));
		keep_command(&line, program);
		if (realpath(line.words[program], own.program) == NULL)
			snprintf(own.program, sizeof(own.program), "%s", line.words[program]);
	}
	clear(&line);
	return is_read && own.library != NULL && !own.start.is_failed;
}

/* A comma is written as two. */
static char *option_of(const char *argument)
{
	char *text = malloc(2 * strlen(argument) + 2), *to = text;

	if (text == NULL)
		return NULL;
	*to++ = ',';
	for (; *argument != '\0'; argument++) {
		*to++ = *argument;
		if (*argument == ',')
			*to++ = ',';
	}
	*to = '\0';
	return text;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void take_argument(const char *argument)
{
	if (starts_with(argument, "mask=")) {
		uint64_t mask = strtoull(argument + strlen("mask="), NULL, 16);
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, MASK_BYTES);
		return;
	}
	if (strcmp(argument, "record=no") == 0) {
		own.is_recorded = false;
		return;
	}
	if (strcmp(argument, "follow=on") == 0)
		own.is_on = true;
	if (starts_with(argument, "only="))
		add(&own.only, argument + strlen("only="));
	char *option = option_of(argument), *whole = NULL;
	if (option != NULL && own.plugin != NULL)
		whole = join(own.plugin, option, "");
	free(option);
	free(own.plugin);
	own.plugin = whole;
}

bool follow_is_argument(const char *argument)
{
	return starts_with(argument, "follow=") || starts_with(argument, "only=") ||
	       starts_with(argument, "record=") || starts_with(argument, "mask=");
}

bool follow_install(int argc, char **argv, const char *needed)
{
	bool is_known = read_own_line();

	own.plugin = strdup(own.library != NULL ? own.library : "");
	own.needed = strdup(needed);
	for (int i = 0; i < argc; i++)
		take_argument(argv[i]);
	own.is_on &= is_known;
	return own.plugin != NULL && own.needed != NULL && !own.only.is_failed;
}

bool follow_is_on(void)
{
	return own.is_on;
}

bool follow_is_recorded(void)
{
	return own.is_recorded;
}

const char *follow_command(void)
{
	return own.command;
}

/* ---- which file ---- */

static bool read_link(const char *link, char *out, size_t size)
{
	ssize_t n = readlink(link, out, size - 1);

	if (n < 0 || (size_t)n >= size - 1)
		return false;
	out[n] = '\0';
	return true;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/*
 * Below /proc files have names that mean something else, or nothing, in the new process: QEMU
 * itself, and descriptors that are closed by then.
 */
static bool name_of_process_file(char *path, size_t size)
{
	char target[PATH_MAX];
	struct stat status;

	if (is_same_file(path, own.emulator)) {
		snprintf(path, size, "%s", own.program);
		return true;
	}
	if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode))
		return true;
	if (!read_link(path, target, sizeof(target)) || !is_same_file(path, target))
		return false;
	snprintf(path, size, "%s", target);
	return true;
}

/* An absolute path where that can be: it is looked up again by QEMU, whenever. */
static bool name_file(int directory, const char *path, int flags, char *out, size_t size)
{
	char start[PATH_MAX], link[64];
	int n;

	if ((flags & ~AT_EMPTY_PATH) != 0 || (path[0] == '\0' && (flags & AT_EMPTY_PATH) == 0))
		return false;
	if (path[0] == '\0') {
		n = snprintf(out, size, "/proc/self/fd/%d", directory);
	} else if (path[0] == '/') {
		n = snprintf(out, size, "%s", path);
	} else {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
		if (directory == AT_FDCWD ? getcwd(start, sizeof(start)) == NULL
					  : !read_link(link, start, sizeof(start)))
			return false;
		n = snprintf(out, size, "%s/%s", start, path);
	}
	if (n < 0 || (size_t)n >= size)
		return false;
	return (!starts_with(out, "/proc/") && !starts_with(out, "/dev/fd/")) ||
	       name_of_process_file(out, size);
}

static bool is_wanted(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	for (size_t i = 0; i < own.only.n; i++) {
		const char *glob = own.only.words[i];
		if (fnmatch(glob, strchr(glob, '/') != NULL ? path : name, 0) == 0)
			return true;
	}
	return own.only.n == 0;
}

/* ---- what is executed ---- */

static bool read_words(Words *out, uint64_t address, uint64_t base)
{
	char *word = address != 0 ? malloc(MAX_WORD_BYTES) : NULL;
	uint64_t place = 0;
	bool is_read = word != NULL;

	for (size_t i = 0; is_read && i < MAX_WORDS; i++) {
		is_read = guest_memory_read(
			base + address + i * sizeof(place), &place, sizeof(place));
		if (!is_read || place == 0)
			break;
		is_read = guest_memory_read_text(base + place, word, MAX_WORD_BYTES);
		if (is_read)
			add(out, word);
	}
	free(word);
	return (address == 0 || (is_read && place == 0)) && !out->is_failed;
}

/* Resolves the interpreters of scripts, up to a program. */
static bool resolve(FollowedProgram *self, const char *given)
{
	char *file = self->file;
	ProgramFile found;

	for (int n_scripts = 0; n_scripts <= MAX_SCRIPTS; n_scripts++) {
		self->is_recorded |= is_wanted(file);
		program_file_read(&found, file);
		if (found.kind != PROGRAM_FILE_SCRIPT)
			return found.kind == PROGRAM_FILE_ELF;
		insert(&self->arguments, 0, strdup(given));
		if (found.argument != NULL)
			insert(&self->arguments, 0, strdup(found.argument));
		free(self->name);
		self->name = strdup(found.interpreter);
		given = self->name;
		if (given == NULL || !name_file(AT_FDCWD, given, 0, file, PATH_MAX))
			return false;
	}
	return false;
}

static bool read_call(
	FollowedProgram *self, int64_t number, const uint64_t *arguments, uint64_t base)
{
	bool is_at = number == SYS_execveat;
	const uint64_t *own_arguments = arguments + (is_at ? 1 : 0);
	char path[PATH_MAX];

	self->file = malloc(PATH_MAX);
	if (self->file == NULL ||
		!guest_memory_read_text(base + own_arguments[0], path, PATH_MAX) ||
		!name_file(is_at ? (int)arguments[0] : AT_FDCWD, path,
			is_at ? (int)arguments[4] : 0, self->file, PATH_MAX) ||
		!read_words(&self->arguments, own_arguments[1], base) ||
		!read_words(&self->environment, own_arguments[2], base))
		return false;
	/* As the kernel since Linux 5.18 does with an empty list. */
	if (self->arguments.n == 0)
		add(&self->arguments, "");
	if (self->arguments.is_failed)
		return false;
	self->name = self->arguments.words[0];
	memmove(self->arguments.words, self->arguments.words + 1,
		self->arguments.n-- * sizeof(*self->arguments.words));
	/* A script finds its own path as it was typed. */
	return resolve(self, path[0] != '\0' && !starts_with(path, "/proc/") ? path : self->file) &&
	       !self->arguments.is_failed;
}

static void free_program(FollowedProgram *self)
{
	clear(&self->arguments);
	clear(&self->environment);
	free(self->name);
	free(self->file);
	free(self);
}

/* Someone else's files, another root, lode that has ended: QEMU would not start. */
static bool can_go_on(void)
{
	return faccessat(AT_FDCWD, own.emulator, X_OK, AT_EACCESS) == 0 &&
	       faccessat(AT_FDCWD, own.library, R_OK, AT_EACCESS) == 0 &&
	       faccessat(AT_FDCWD, own.needed, R_OK | W_OK, AT_EACCESS) == 0;
}

static FollowedProgram *prepare(int64_t number, const uint64_t *arguments, uint64_t base)
{
	FollowedProgram *self;

	if (!own.is_on || !can_go_on() || (self = calloc(1, sizeof(*self))) == NULL)
		return NULL;
	if (read_call(self, number, arguments, base))
		return self;
	free_program(self);
	return NULL;
}

/* ---- executing it ---- */

/* What the loader and the libraries of QEMU itself would obey. A comma ends what -E is given, and
 * what has one must be where QEMU has its own. */
static bool is_for_program_only(const char *variable)
{
	static const char *const starts[] = {"LD_", "GLIBC_TUNABLES=", "MALLOC_", "G_", "QEMU_"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (starts_with(variable, starts[i]))
			return strchr(variable, ',') == NULL;
	return false;
}

/* QEMU gives the program its own environment in reverse. */
static void set_environment(const Words *wanted, Words *line, Words *environment)
{
	for (size_t i = wanted->n; i-- > 0;) {
		if (is_for_program_only(wanted->words[i])) {
			add(line, "-E");
			add(line, wanted->words[i]);
		} else {
			add(environment, wanted->words[i]);
		}
	}
}

static uint64_t set_mask(uint64_t mask)
{
	uint64_t old = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, MASK_BYTES);
	return old;
}

/* All that a program can block and QEMU lets it: not those that tell of faults. 32 and 33 are the C
 * library's, which it keeps out of sets. */
static bool is_full(uint64_t mask)
{
	const int others[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, 32, 33};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		mask |= UINT64_C(1) << (others[i] - 1);
	return mask == UINT64_MAX;
}

/*
 * While a signal waits to be handled QEMU has all blocked. Its own execve() then returns to the
 * program first, which handles it, and the call begins anew.
 *
 * Signals that come from now on are for the new program: they stay blocked until its plugin has got
 * the previous mask.
 */
static void execute(const FollowedProgram *self)
{
	Words line = {0}, environment = {0};
	char mask[64], *plugin;
	uint64_t old = set_mask(UINT64_MAX);

	if (is_full(old) && !blocks_all) {
		set_mask(old);
		return;
	}
	snprintf(mask, sizeof(mask), ",mask=%llx", (unsigned long long)old);
	plugin = join(own.plugin, mask, self->is_recorded ? "" : ",record=no");
	for (size_t i = 0; i < own.start.n; i++)
		add(&line, own.start.words[i]);
	add(&line, plugin);
	set_environment(&self->environment, &line, &environment);
	add(&line, "-0");
	add(&line, self->name);
	add(&line, self->file);
	for (size_t i = 0; i < self->arguments.n; i++)
		add(&line, self->arguments.words[i]);
	char *none[] = {NULL};
	if (!line.is_failed && !environment.is_failed)
		execve(own.emulator, line.words,
			environment.words != NULL ? environment.words : none);
	set_mask(old);
	free(plugin);
	clear(&line);
	clear(&environment);
}

bool follow_is_exec(int64_t number)
{
	return number == SYS_execve || number == SYS_execveat;
}

void follow_before_call(int64_t number, const uint64_t *arguments, uint64_t base)
{
	FollowedProgram *program = follow_is_exec(number) ? prepare(number, arguments, base) : NULL;

	if (program == NULL)
		return;
	execute(program);
	free_program(program);
}

void follow_after_call(int64_t number, const uint64_t *arguments, int64_t result, uint64_t base)
{
	uint64_t mask;

	if (number != SYS_rt_sigprocmask || result != 0 || arguments[1] == 0 ||
		!guest_memory_read(base + arguments[1], &mask, sizeof(mask)))
		return;
	if (arguments[0] == SIG_UNBLOCK)
		blocks_all = blocks_all && mask == 0;
	else if (arguments[0] == SIG_SETMASK || is_full(mask))
		blocks_all = is_full(mask);
}
