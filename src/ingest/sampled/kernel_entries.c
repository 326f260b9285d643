/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/kernel_entries.h"

#include "base/bits.h"
#include "model/code.h"
#include "sources/code/system_calls.h"

#include <asm/perf_regs.h>
#include <string.h>

enum { SYSCALL_SIZE = 2, MOVE_SIZE = 5, CLEAR_SIZE = 2 };

typedef enum { ENTRY_UNKNOWN, ENTRY_FAULT, ENTRY_INTERRUPT, ENTRY_CALL } Kind;

/* The first that fits counts. */
static const struct {
	const char *start;
	Kind kind;
} entries[] = {
	{"asm_exc_page_fault", ENTRY_FAULT},
	{"exc_page_fault", ENTRY_FAULT},
	{"do_user_addr_fault", ENTRY_FAULT},
	{"asm_", ENTRY_INTERRUPT},
	{"sysvec_", ENTRY_INTERRUPT},
	{"common_interrupt", ENTRY_INTERRUPT},
	{"exc_", ENTRY_INTERRUPT},
	{"entry_SYSCALL", ENTRY_CALL},
	{"do_syscall_64", ENTRY_CALL},
	{"x64_sys_call", ENTRY_CALL},
	{"__x64_sys_", ENTRY_CALL},
	{"ret_from_fork", ENTRY_CALL},
};

static Kind kind_of(const char *function)
{
	for (size_t i = 0; i < G_N_ELEMENTS(entries); i++)
		if (g_str_has_prefix(function, entries[i].start))
			return entries[i].kind;
	return ENTRY_UNKNOWN;
}

/* The outermost function that says it; in a system call, pages may fault too. */
static Kind find_kind(const GPtrArray *functions)
{
	Kind kind = ENTRY_UNKNOWN;

	for (guint i = functions->len; i-- > 0 && kind == ENTRY_UNKNOWN;)
		kind = kind_of(functions->pdata[i]);
	return kind;
}

/* "write" of __x64_sys_write, the outermost; NULL: not known. */
static const char *find_call(const GPtrArray *functions)
{
	static const char start[] = "__x64_sys_";

	for (guint i = functions->len; i-- > 0;)
		if (g_str_has_prefix(functions->pdata[i], start))
			return (const char *)functions->pdata[i] + strlen(start);
	return NULL;
}

static bool read_register(const LodePerfRecord *record, const LodePerfEvent *event, unsigned which,
	uint64_t *out_value)
{
	uint64_t bit = LODE_BIT(which);

	if (record->sample.user_registers == NULL || (event->user_registers & bit) == 0 ||
		record->sample.user_abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	*out_value = record->sample.user_registers[__builtin_popcountll(
		event->user_registers & (bit - 1))];
	return true;
}

/* The bytes of the code before a place, `n` of them; NULL: they are not known. */
static const uint8_t *code_before(LodePlaces *places, const LodePlace *place, size_t n)
{
	size_t size = 0;
	const uint8_t *bytes = NULL;

	if (place->address >= n && place->image != LODE_NONE)
		bytes = lode_code_image_bytes(
			lode_code_images_at(lode_places_images(places), place->image),
			place->address - n, &size);
	return size >= n ? bytes : NULL;
}

static bool is_after_syscall(LodePlaces *places, const LodePlace *place)
{
	const uint8_t *bytes = code_before(places, place, SYSCALL_SIZE);

	return bytes != NULL && bytes[0] == 0x0f && bytes[1] == 0x05;
}

/* Whether the byte before may be a prefix by which the instruction has a different register: 45 31
 * c0 is xor r8d, r8d, 41 b8 mov r8d, NUMBER. */
static bool may_be_extended(LodePlaces *places, const LodePlace *place, size_t size)
{
	const uint8_t *prefix = code_before(places, place, size + 1);

	return prefix != NULL && (prefix[0] & 0xf0) == 0x40 && (prefix[0] & 5) != 0;
}

/* By mov eax, NUMBER or xor eax, eax right before the system call. */
static const char *find_constant(LodePlaces *places, const LodePlace *place)
{
	const size_t move_size = MOVE_SIZE + SYSCALL_SIZE, clear_size = CLEAR_SIZE + SYSCALL_SIZE;
	const uint8_t *move = code_before(places, place, move_size);
	const uint8_t *clear = code_before(places, place, clear_size);
	uint32_t number;

	if (clear != NULL && clear[0] == 0x31 && clear[1] == 0xc0)
		return may_be_extended(places, place, clear_size) ? NULL : lode_system_call_name(0);
	if (move == NULL || move[0] != 0xb8 || may_be_extended(places, place, move_size))
		return NULL;
	memcpy(&number, move + 1, sizeof(number));
	return lode_system_call_name(number);
}

bool lode_kernel_entry_find(LodePlaces *places, const LodePerfRecord *record,
	const LodePerfEvent *event, uint64_t time_ns, const GPtrArray *functions,
	LodeKernelEntry *out_entry)
{
	LodePlace place = {LODE_NONE, 0};
	uint64_t address, kept;

	if (!read_register(record, event, PERF_REG_X86_IP, &address))
		return false;
	Kind kind = find_kind(functions);
	/* The instruction leaves the address after it in rcx. */
	bool has_kept = read_register(record, event, PERF_REG_X86_CX, &kept) && kept == address;
	if (lode_places_find(places, record->pid, time_ns, address, &place) != LODE_PLACE_FOUND)
		place.image = LODE_NONE;
	bool is_after = is_after_syscall(places, &place);
	if (kind == ENTRY_UNKNOWN && has_kept && is_after)
		kind = ENTRY_CALL;
	*out_entry = (LodeKernelEntry){
		.address = kind == ENTRY_CALL && is_after ? address - SYSCALL_SIZE : address};
	const char *name = NULL;
	if (kind == ENTRY_CALL)
		name = find_call(functions);
	if (kind == ENTRY_CALL && name == NULL && is_after)
		name = find_constant(places, &place);
	g_snprintf(out_entry->event, sizeof(out_entry->event), LODE_KERNEL_EVENTS "%s%s%s",
		kind == ENTRY_FAULT       ? "page-fault"
		: kind == ENTRY_INTERRUPT ? "interrupt"
		: kind == ENTRY_CALL      ? "syscall"
					  : "unknown",
		name != NULL ? ":" : "", name != NULL ? name : "");
	return true;
}
