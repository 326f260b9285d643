/* SPDX-License-Identifier: MIT */
#include "record/waits/switch_samples.h"

#include "base/bits.h"
#include "record/perf/perf_records.h"
#include "sources/perf_data/wait_switch.h"

#include <asm/perf_regs.h>
#include <string.h>

enum {
	STACK_BYTES = 1024,
	MAX_PLACES = 1 << 14, /* whose stacks are written */
};

/* --- attributes --- */

#if defined(__x86_64__)
/* The arguments of a system call, and where it returns to; in the order of a sample. */
enum { OF_DX, OF_SI, OF_DI, OF_SP, OF_IP, OF_R8, OF_R9, OF_R10, N_REGISTERS };
#define REGISTERS                                                                                  \
	(LODE_BIT(PERF_REG_X86_DX) | LODE_BIT(PERF_REG_X86_SI) | LODE_BIT(PERF_REG_X86_DI) |       \
		LODE_BIT(PERF_REG_X86_SP) | LODE_BIT(PERF_REG_X86_IP) |                            \
		LODE_BIT(PERF_REG_X86_R8) | LODE_BIT(PERF_REG_X86_R9) |                            \
		LODE_BIT(PERF_REG_X86_R10))
#else
enum { OF_DI, OF_SP, OF_IP, N_REGISTERS };
#define REGISTERS UINT64_C(0)
#endif

void lode_switch_samples_ask(struct perf_event_attr *attr)
{
	attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr->exclude_kernel = 0;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->exclude_callchain_user = 1;
	attr->sample_regs_user = REGISTERS;
	attr->sample_stack_user = STACK_BYTES;
}

static char *read_tracepoint(const LodePerfKernel *kernel, const char *file)
{
	g_autofree char *path = g_build_filename(
		kernel->tracing, "events", "sched", "sched_waking", file, NULL);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

/* As all kernels have it until now: the reader knows no other (sources/perf_data/wait_switch.h). */
static bool is_known_form(const char *format)
{
	static const char *const fields[] = {
		"common_flags;\toffset:2;\tsize:1;",
		"common_pid;\toffset:4;\tsize:4;",
		"pid_t pid;\toffset:24;\tsize:4;",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (strstr(format, fields[i]) == NULL)
			return false;
	return true;
}

bool lode_waking_samples_ask(const LodePerfKernel *kernel, struct perf_event_attr *attr)
{
	g_autofree char *id = kernel->tracing != NULL ? read_tracepoint(kernel, "id") : NULL;
	g_autofree char *format = id != NULL ? read_tracepoint(kernel, "format") : NULL;

	if (format == NULL || !is_known_form(format))
		return false;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = g_ascii_strtoull(id, NULL, 10);
	attr->exclude_kernel = 0;
	attr->sample_type |= PERF_SAMPLE_RAW;
	return true;
}

void lode_waking_samples_write_as(struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
}

/* --- stacks --- */

struct LodeSwitchStacks {
	GHashTable *places; /* set of uint64_t: keys */
};

LodeSwitchStacks *lode_switch_stacks_new(void)
{
	LodeSwitchStacks *self = g_new0(LodeSwitchStacks, 1);

	self->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return self;
}

void lode_switch_stacks_free(LodeSwitchStacks *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->places);
	g_free(self);
}

/* A word of a record, whose length is looked at. */
static bool read_word(const uint8_t *record, size_t size, size_t at, uint64_t *out_word)
{
	if (at > size || size - at < sizeof(*out_word))
		return false;
	memcpy(out_word, record + at, sizeof(*out_word));
	return true;
}

/* Whether the place is new, and there is room for it. */
static bool is_wanted(LodeSwitchStacks *self, uint64_t place)
{
	if (g_hash_table_size(self->places) >= MAX_PLACES)
		return false;
	return g_hash_table_add(self->places, g_memdup2(&place, sizeof(place)));
}

size_t lode_switch_stacks_cut(LodeSwitchStacks *self, uint8_t *record, size_t size)
{
	const LodePerfSampleStart *start = (const void *)record;
	size_t at = sizeof(*start) + sizeof(uint64_t); /* the CPU */
	uint64_t n_functions, abi, stack_bytes, used, registers[N_REGISTERS];
	/* its size, what it is, how much of it was used */
	uint64_t key[] = {sizeof(uint64_t), 0, sizeof(uint64_t)};
	struct perf_event_header header;

	if (!read_word(record, size, at, &n_functions) || n_functions > size / sizeof(uint64_t))
		return size;
	at += sizeof(uint64_t) * (1 + n_functions);
	if (!read_word(record, size, at, &abi))
		return size;
	at += sizeof(uint64_t);
	for (int i = 0; abi != PERF_SAMPLE_REGS_ABI_NONE && i < N_REGISTERS; i++) {
		if (!read_word(record, size, at, &registers[i]))
			return size;
		at += sizeof(uint64_t);
	}
	if (!read_word(record, size, at, &stack_bytes) || abi == PERF_SAMPLE_REGS_ABI_NONE ||
		stack_bytes <= sizeof(uint64_t) ||
		!read_word(record, size, size - sizeof(used), &used) || used > stack_bytes ||
		size - at < 2 * sizeof(uint64_t) || stack_bytes != size - at - 2 * sizeof(uint64_t))
		return size;
	const LodeSwitchPlace place = {start->tid, registers[OF_IP], registers[OF_SP],
		registers[OF_DI], record + at + sizeof(uint64_t), used};
	key[1] = used >= sizeof(uint64_t) ? lode_switch_place_key(&place) : 0;
	if (key[1] == 0 || is_wanted(self, key[1]))
		return size;
	memcpy(record + at, key, sizeof(key));
	size = at + sizeof(key);
	memcpy(&header, record, sizeof(header));
	header.size = (uint16_t)size;
	memcpy(record, &header, sizeof(header));
	return size;
}
