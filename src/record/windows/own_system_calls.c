/* SPDX-License-Identifier: MIT */
/*
 * Each pair of bytes that could be `syscall` is decoded up to from several places before it. x86
 * code that is decoded from a wrong place soon falls in step with the right one, so that a real
 * instruction is met from most of them, and bytes within another one are not.
 */
#include "record/windows/own_system_calls.h"

#include "base/files/own_library.h"
#include "images/instructions/instruction_decoder.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

static const uint8_t call_bytes[] = {0x0f, 0x05};

enum { FARTHEST = 96, PLACES = 16, UNKNOWN = -1, PAGE = 4096 };

/* The calls that a wrapper of the preloaded library examines. */
static const int64_t watched[] = {
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_ptrace, SYS_prctl, SYS_seccomp, UNKNOWN};

struct LodeOwnSystemCalls {
	GHashTable *files; /* text that says which file ─▶ GINT_TO_POINTER(bool) */
};

LodeOwnSystemCalls *lode_own_system_calls_new(void)
{
	LodeOwnSystemCalls *self = g_new(LodeOwnSystemCalls, 1);

	self->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return self;
}

void lode_own_system_calls_free(LodeOwnSystemCalls *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->files);
	g_free(self);
}

/* --- code --- */

static int32_t constant_at(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The constant that rax has after an instruction, if it is one that compilers set a number by. */
static int64_t number_after(const uint8_t *at, size_t length, int64_t before)
{
	const bool is_wide = at[0] >= 0x40 && at[0] <= 0x4f;
	const uint8_t *code = at + is_wide;
	const size_t left = length - is_wide;
	const bool is_first_register = !is_wide || (at[0] & 1) == 0;

	if (code[0] == 0xb8 && left == 5 && is_first_register)
		return constant_at(code + 1);
	if (code[0] == 0xc7 && left == 6 && code[1] == 0xc0 && is_first_register)
		return constant_at(code + 2);
	if ((code[0] == 0x31 || code[0] == 0x33) && left == 2 && code[1] == 0xc0 && !is_wide)
		return 0;
	/* mov to rax, from a register or memory; pop rax */
	if ((code[0] == 0x89 && (code[1] & 0xc7) == 0xc0 && is_first_register) ||
		(code[0] == 0x8b && (code[1] & 0x38) == 0) || (code[0] == 0x58 && left == 1))
		return UNKNOWN;
	return before;
}

/* Whether decoding from `from` comes to `call`, and with which number then. */
static bool reaches(LodeInstructionDecoder *decoder, const uint8_t *from, const uint8_t *call,
	int64_t *out_number)
{
	LodeDecodedInstruction one;
	int64_t number = UNKNOWN;

	while (from < call) {
		if (!lode_instruction_decoder_decode(
			    decoder, from, (size_t)(call + sizeof(call_bytes) - from), 0, &one))
			return false;
		number = number_after(from, one.length, number);
		if (one.branch != LODE_BRANCH_NONE && one.branch != LODE_BRANCH_CONDITIONAL)
			number = UNKNOWN;
		from += one.length;
	}
	*out_number = number;
	return from == call;
}

static bool is_watched(int64_t number)
{
	for (size_t i = 0; i < G_N_ELEMENTS(watched); i++)
		if (watched[i] == number)
			return true;
	return false;
}

/* From the farthest place on: the first that comes there has seen the most. */
static bool is_watched_call(
	LodeInstructionDecoder *decoder, const uint8_t *code, const uint8_t *call)
{
	const size_t before = (size_t)(call - code), far = MIN(before, FARTHEST);
	const size_t n = MIN(far + 1, PLACES);
	size_t n_reached = 0;
	int64_t number = UNKNOWN, first = UNKNOWN;

	for (size_t i = 0; i < n; i++)
		if (reaches(decoder, call - far + i, call, &number) && n_reached++ == 0)
			first = number;
	return 2 * n_reached > n && is_watched(first);
}

bool lode_own_system_calls_in_code(const uint8_t *code, size_t size)
{
	LodeInstructionDecoder decoder;
	const uint8_t *at = code, *end = code + size;

	lode_instruction_decoder_init(&decoder);
	while ((at = memmem(at, (size_t)(end - at), call_bytes, sizeof(call_bytes))) != NULL) {
		if (is_watched_call(&decoder, code, at))
			return true;
		at++;
	}
	return false;
}

/* --- files --- */

typedef struct {
	uint64_t start, end, offset, inode;
	const char *path;
	int path_length;
	char device[16];
} Mapping;

static bool read_mapping(const char *line, Mapping *out)
{
	char rights[5];
	int at = 0;

	if (sscanf(line,
		    "%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %4s %" G_GINT64_MODIFIER
		    "x %15s %" G_GINT64_MODIFIER "u %n",
		    &out->start, &out->end, rights, &out->offset, out->device, &out->inode,
		    &at) != 6 ||
		strchr(rights, 'x') == NULL || line[at] != '/')
		return false;
	out->path = line + at;
	out->path_length = (int)strcspn(out->path, "\n");
	return true;
}

/* Libraries whose functions are wrapped, so that all calls are seen, and run-times that only wait
 * and wake (futex), or read and write. */
static bool is_harmless(const char *path)
{
	static const char *const names[] = {"libc.so.", "libc-2.", "ld-linux", "ld-2.",
		"libpthread", "librt.so.", "librt-2.", "libgomp.so", "libomp.so", "libiomp5.so",
		"libitm.so", "liburing.so"};
	g_autofree char *name = g_path_get_basename(path);

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_has_prefix(name, names[i]))
			return true;
	return lode_is_own_library(path);
}

/* Pages one by one would take several times as long. */
static bool look_at_part(const uint8_t *file, size_t offset, size_t size)
{
	const size_t begin = offset / PAGE * PAGE;

	madvise((void *)(file + begin), offset + size - begin, MADV_POPULATE_READ);
	return lode_own_system_calls_in_code(file + offset, size);
}

/* An executable segment may have tables beside code. False: the file has no sections. */
static bool look_at_sections(const uint8_t *file, size_t size, bool *out_are_there)
{
	Elf64_Ehdr head;
	Elf64_Shdr section;

	if (size < sizeof(head))
		return false;
	memcpy(&head, file, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
		head.e_shentsize != sizeof(section) || head.e_shnum == 0 || head.e_shoff > size ||
		head.e_shnum > (size - head.e_shoff) / sizeof(section))
		return false;
	for (size_t i = 0; i < head.e_shnum && !*out_are_there; i++) {
		memcpy(&section, file + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR) != 0 &&
			section.sh_offset <= size && section.sh_size <= size - section.sh_offset)
			*out_are_there = look_at_part(
				file, (size_t)section.sh_offset, (size_t)section.sh_size);
	}
	return true;
}

/* Looks at the executable sections of a file; at the mapped part of one that is not ELF. */
static bool are_in_file(int descriptor, const Mapping *part)
{
	const uint64_t wanted = part->end - part->start;
	struct stat status;
	bool are_there = false;

	if (fstat(descriptor, &status) != 0 || status.st_ino != part->inode ||
		part->offset >= (uint64_t)status.st_size)
		return false;
	const size_t size = (size_t)status.st_size;
	const uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	if (file == MAP_FAILED)
		return false;
	if (!look_at_sections(file, size, &are_there))
		are_there = look_at_part(
			file, (size_t)part->offset, (size_t)MIN(wanted, size - part->offset));
	munmap((void *)file, size);
	return are_there;
}

/* A file that was removed is still there if it is the program; others of no name are code that the
 * program makes. */
static int open_file(pid_t pid, const char *path)
{
	g_autofree char *seen = g_strdup_printf("/proc/%d/root%s", (int)pid, path);
	g_autofree char *program = g_strdup_printf("/proc/%d/exe", (int)pid);
	int descriptor = open(seen, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return descriptor >= 0 ? descriptor : open(program, O_RDONLY | O_CLOEXEC);
}

static bool are_in_mapping(LodeOwnSystemCalls *self, pid_t pid, const Mapping *part)
{
	g_autofree char *path = g_strndup(part->path, (gsize)part->path_length);
	g_autofree char *key = g_strdup_printf(
		"%s %" G_GUINT64_FORMAT " %s", part->device, part->inode, path);
	void *known;

	if (is_harmless(path))
		return false;
	if (g_hash_table_lookup_extended(self->files, key, NULL, &known))
		return GPOINTER_TO_INT(known) != 0;
	int descriptor = open_file(pid, path);
	const bool are_there = descriptor >= 0 && are_in_file(descriptor, part);
	if (descriptor >= 0)
		close(descriptor);
	g_hash_table_insert(self->files, g_steal_pointer(&key), GINT_TO_POINTER(are_there));
	return are_there;
}

bool lode_own_system_calls_are_in(LodeOwnSystemCalls *self, pid_t pid, const char *maps)
{
	Mapping part;

	for (const char *line = maps; *line != '\0';) {
		if (read_mapping(line, &part) && are_in_mapping(self, pid, &part))
			return true;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return false;
}
