/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/waits/switch_looks.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "base/bits.h"
#include "images/instructions/user_registers.h"
#include "ingest/sampled/kernel_entries.h"
#include "model/index.h"
#include "model/profile.h"
#include "sources/code/system_calls.h"
#include "sources/perf_data/wait_switch.h"

#include <asm/perf_regs.h>
#include <string.h>

enum { MAX_PLACES = 1 << 18, MAX_SEEN = 1 << 20 };

/* What looks at one place saw, from that time on. */
typedef struct {
	uint64_t time_ns;
	LodeWaitLook look; /* its texts are kept */
} Seen;

struct LodeSwitchLooks {
	LodeIdCache ids;
	GPtrArray *places; /* GArray of Seen, by time */
	GStringChunk *texts;
	guint n_seen;
};

LodeSwitchLooks *lode_switch_looks_new(void)
{
	LodeSwitchLooks *self = g_new0(LodeSwitchLooks, 1);

	lode_id_cache_init(&self->ids);
	self->places = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	self->texts = g_string_chunk_new(1 << 12);
	return self;
}

void lode_switch_looks_free(LodeSwitchLooks *self)
{
	if (self == NULL)
		return;
	lode_id_cache_clear(&self->ids);
	g_ptr_array_unref(self->places);
	g_string_chunk_free(self->texts);
	g_free(self);
}

static LodeIdKey key_of(uint32_t pid, uint64_t ip, const LodeWaitLook *look)
{
	return (LodeIdKey){{pid, ip, (uint64_t)look->call, look->arguments[0]}};
}

/* NULL: there is none, and no room. */
static GArray *place_of(LodeSwitchLooks *self, const LodeIdKey *key)
{
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find_limited(&self->ids, key, MAX_PLACES, &is_new);

	if (slot == NULL)
		return NULL;
	if (is_new) {
		slot->id = self->places->len;
		g_ptr_array_add(self->places, g_array_new(FALSE, FALSE, sizeof(Seen)));
	}
	return self->places->pdata[slot->id];
}

static bool says_the_same(const LodeWaitLook *one, const LodeWaitLook *other)
{
	return one->flags == other->flags && one->n_words == other->n_words &&
	       one->timeout_ns == other->timeout_ns &&
	       memcmp(one->words, other->words, sizeof(one->words)) == 0 &&
	       strcmp(one->target, other->target) == 0;
}

void lode_switch_looks_note(LodeSwitchLooks *self, const LodePerfRecord *record,
	const LodeWaitLook *look, uint64_t time_ns)
{
	const LodeIdKey key = key_of(record->pid, record->sample.ip, look);
	Seen seen = {time_ns, *look};

	if (look->call < 0 || (look->flags & (LODE_LOOK_OF_HOLDER | LODE_LOOK_WAS_REFUSED)) != 0 ||
		self->n_seen >= MAX_SEEN)
		return;
	GArray *place = place_of(self, &key);
	if (place == NULL)
		return;
	const Seen *last = place->len > 0 ? &LODE_AT(place, Seen, place->len - 1) : NULL;
	/* They come in the order of time, but for the length of a round. */
	if (last != NULL && (last->time_ns > time_ns || says_the_same(&last->look, look)))
		return;
	seen.look.target = g_string_chunk_insert_const(self->texts, look->target);
	seen.look.kernel_function = "";
	g_array_append_val(place, seen);
	self->n_seen++;
}

/* NULL: none was there. */
static const LodeWaitLook *find_seen(
	const LodeSwitchLooks *self, const LodeIdKey *key, uint64_t time_ns)
{
	bool is_new;
	const LodeIdSlot *slot = lode_id_cache_find_limited(
		(LodeIdCache *)&self->ids, key, 0, &is_new);

	if (slot == NULL)
		return NULL;
	const GArray *place = self->places->pdata[slot->id];
	const Seen *seen = (const Seen *)(const void *)place->data;
	guint after = LODE_PARTITION_POINT(place->len, i, seen[i].time_ns <= time_ns);
	return place->len > 0 ? &seen[MAX(after, 1) - 1].look : NULL;
}

/* As wchan has it: the innermost that does not only give the processor to another thread. */
static const char *waiting_function(const GPtrArray *functions)
{
	static const char *const starts[] = {
		"__schedule", "schedule", "preempt_schedule", "io_schedule", "[kernel]"};

	for (guint i = 0; i < functions->len; i++) {
		bool is_of_scheduler = false;
		for (size_t k = 0; k < G_N_ELEMENTS(starts); k++)
			is_of_scheduler |= g_str_has_prefix(functions->pdata[i], starts[k]);
		if (!is_of_scheduler)
			return functions->pdata[i];
	}
	return "";
}

/* Whether it was stopped by a signal, or by a debugger. */
static bool is_stop(const GPtrArray *functions)
{
	static const char *const stops[] = {"ptrace_stop", "do_signal_stop", "do_jobctl_trap"};

	for (guint i = 0; i < functions->len; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(stops); k++)
			if (g_str_has_prefix(functions->pdata[i], stops[k]))
				return true;
	return false;
}

static bool read_instruction_pointer(
	const LodePerfRecord *record, const LodePerfEvent *event, uint64_t *out_ip)
{
	uint64_t bit = LODE_BIT(PERF_REG_X86_IP);

	if (record->sample.user_registers == NULL || (event->user_registers & bit) == 0)
		return false;
	*out_ip = record->sample
	                  .user_registers[__builtin_popcountll(event->user_registers & (bit - 1))];
	return true;
}

/* The system call, or LODE_LOOK_NO_CALL in a page fault. False: neither. */
static bool find_call(const LodeSwitchSample *sample, int64_t *out_call)
{
	static const char of_call[] = LODE_KERNEL_EVENTS "syscall:";
	LodeKernelEntry entry;

	if (!lode_kernel_entry_find(sample->places, sample->record, sample->event, sample->time_ns,
		    sample->functions, &entry))
		return false;
	if (strcmp(entry.event, LODE_KERNEL_EVENTS "page-fault") == 0) {
		*out_call = LODE_LOOK_NO_CALL;
		return true;
	}
	return g_str_has_prefix(entry.event, of_call) &&
	       lode_system_call_find(entry.event + strlen(of_call), out_call);
}

bool lode_switch_looks_find(const LodeSwitchLooks *self, const LodeSwitchSample *sample,
	LodeWaitLook *out_look, LodePerfRecord *out_record)
{
	/* rdi, rsi, rdx, r10, r8, r9 */
	static const uint8_t arguments[] = {7, 6, 2, 10, 8, 9};
	const LodePerfSample *is = &sample->record->sample;
	LodeUserRegisters registers;
	LodeWaitLook look = {
		.holder_call = LODE_LOOK_RUNS,
		.state = is_stop(sample->functions) ? 'T' : 'S',
		.target = "",
	};

	*out_record = *sample->record;
	if (is->user_registers == NULL ||
		!lode_user_registers_from_perf(&registers, sample->event->user_registers,
			is->user_abi, is->user_registers) ||
		!read_instruction_pointer(sample->record, sample->event, &out_record->sample.ip))
		return false;
	if (!find_call(sample, &look.call)) {
		if (!is_stop(sample->functions))
			return false;
		look.call = LODE_LOOK_NO_CALL;
	}
	for (size_t i = 0; look.call >= 0 && i < G_N_ELEMENTS(arguments); i++)
		look.arguments[i] = registers.values[arguments[i]];
	const LodeIdKey key = key_of(sample->record->pid, out_record->sample.ip, &look);
	const LodeWaitLook *seen = look.call >= 0 ? find_seen(self, &key, sample->time_ns) : NULL;
	if (seen != NULL) {
		look.flags = seen->flags & ~(uint32_t)LODE_LOOK_TIME_IS_LEFT;
		look.target = seen->target;
		look.n_words = seen->n_words;
		memcpy(look.words, seen->words, sizeof(look.words));
		if (look.flags == seen->flags)
			look.timeout_ns = seen->timeout_ns;
	}
	if (is->stack_size >= sizeof(look.place)) {
		const LodeSwitchPlace place = {sample->record->tid, out_record->sample.ip,
			registers.values[LODE_REGISTER_RSP], registers.values[arguments[0]],
			is->stack, is->stack_size};
		look.place = lode_switch_place_key(&place);
	}
	if (is->stack_size <= sizeof(look.place))
		out_record->sample.stack_size = 0;
	look.kernel_function = waiting_function(sample->functions);
	out_record->mode = LODE_PERF_MODE_USER;
	*out_look = look;
	return true;
}
