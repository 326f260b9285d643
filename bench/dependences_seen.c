/* SPDX-License-Identifier: MIT */
/*
 * Dependences as they happened in windows, beside what attributes say of them.
 *   dependences_seen RECORDING PROFILE [all]
 * RECORDING was made with --windows, PROFILE is imported from it; `all` lists the differences.
 *
 * 1. Registers that a step changed are among those that its decoded instruction may change.
 * 2. needs: and address: of instructions with 30 executions or more: along the paths that were
 *    executed, and by address for what is loaded after it was stored. Shares near a half (0.35 to
 *    0.65) are left out.
 * 3. Recurrences: the longest way from an execution of an instruction to the next one of the same
 *    call, along registers and memory, in cycles of a processor with guessed latencies.
 */
#include "base/arrays/hash.h"
#include "images/data/stepped_access.h"
#include "images/instructions/register_use.h"
#include "ingest/join/attributes/dependence_search.h"
#include "ingest/windows/window_steps.h"
#include "model/profile.h"
#include "sources/perf_data/perf_data.h"
#include "store/profile_store.h"

#include <stdio.h>
#include <string.h>

enum {
	FRAMES = 64,     /* calls that are followed into each other */
	MAX_STORES = 4,  /* of an instruction */
	MAX_MAKERS = 16, /* of the values that a step reads */
	ITERATION = 256, /* steps from an execution to the next, at most */
	LOAD_CYCLES = 4, /* guessed: of a hit, and of what was just stored */
	FEW = 30,        /* executions of which a share says nothing */
	SHOWN = 10,      /* recurrences */
};

static const LodeNeed compared[] = {LODE_NEED_LOAD, LODE_NEED_MUL, LODE_NEED_DIV, LODE_NEED_FP,
	LODE_NEED_CONVERT, LODE_NEED_ATOMIC, LODE_NEED_CALL, LODE_NEED_STORE, LODE_NEED_PART_STORE};

/* A stepped instruction, by the number of its code. */
typedef struct {
	bool is_looked_for, is_known, is_call;
	LodeRegisterUse use;
	uint16_t makes;       /* bits of LodeNeed */
	uint32_t instruction; /* of the profile; LODE_NONE */
	uint32_t function;
	uint16_t needs, address; /* bits of LodeNeed: the attributes */
	uint32_t n;              /* executions that were judged */
	uint32_t needed[LODE_N_NEEDS], addressed[LODE_N_NEEDS];
	uint32_t n_repeated, n_recurring, n_by_memory;
	double cycles;
} Code;

/* An executed instruction of a call. */
typedef struct {
	uint32_t code;
	LodeDataOperand stores[MAX_STORES];
	uint32_t n_stores;
} Executed;

typedef struct {
	Executed last[LODE_NEED_DISTANCE];
	uint32_t n;
	uint32_t function; /* LODE_NONE: not known yet */
	uint32_t id;
	bool is_whole; /* from its begin on */
} Frame;

typedef struct {
	uint32_t code, frame;
	uint32_t makers[MAX_MAKERS];
	bool is_by_memory[MAX_MAKERS];
	uint32_t n_makers;
	int cycles;
} Step;

typedef struct {
	LodeProfile *profile;
	LodePlaces *places;
	GHashTable *instructions; /* image << 48 ^ address → instruction + 1 */
	GHashTable *images;       /* path → image + 1 */
	GArray *codes;            /* Code */
	Frame frames[FRAMES];
	uint32_t top, n_frames;
	uint64_t registers[LODE_WINDOW_REGISTERS]; /* before the step before */
	uint32_t before;                           /* its code; LODE_NONE */
	uint64_t n_changed, n_wrong;
	Step steps[LODE_WINDOW_MAX_STEPS];
	uint32_t n_steps;
	uint32_t writers[LODE_N_REGISTER_BITS]; /* steps; LODE_NONE */
	GHashTable *stored;                     /* address → step + 1 */
	double longest[LODE_WINDOW_MAX_STEPS];  /* of each step: from the execution before */
	bool is_by_memory[LODE_WINDOW_MAX_STEPS];
	bool lists; /* the differences */
} Seen;

static uint64_t instruction_key(uint32_t image, uint64_t address)
{
	return (uint64_t)image << 48 ^ address;
}

static void find_instructions(Seen *self)
{
	const LodeProfile *profile = self->profile;

	for (uint32_t i = 0; i < profile->code.images->len; i++)
		g_hash_table_insert(self->images, LODE_AT(profile->code.images, LodeImage, i).path,
			GUINT_TO_POINTER(i + 1));
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(profile, i);
		uint32_t image = lode_profile_function(profile, instruction->function)->image;
		uint64_t key = instruction_key(image, instruction->address);
		g_hash_table_insert(
			self->instructions, GSIZE_TO_POINTER(key), GUINT_TO_POINTER(i + 1));
	}
}

static uint16_t needs_of(const LodeProfile *profile, uint32_t set, const char *space)
{
	const LodeAttributeSet *members = &LODE_AT(
		profile->code.attribute_sets, LodeAttributeSet, set);
	size_t length = strlen(space);
	unsigned found = 0;

	for (uint32_t i = 0; i < members->n; i++) {
		const char *name = g_ptr_array_index(profile->code.attributes,
			LODE_AT(profile->code.set_members, uint32_t, members->first + i));
		for (int k = 0; k < LODE_N_NEEDS && g_str_has_prefix(name, space); k++)
			if (strcmp(name + length, lode_need_name((LodeNeed)k)) == 0)
				found |= 1u << k;
	}
	return (uint16_t)found;
}

static uint16_t makes_of(uint32_t kinds)
{
	static const struct {
		LodeInstructionKind kind;
		LodeNeed need;
	} made[] = {
		{LODE_KIND_LOAD, LODE_NEED_LOAD},
		{LODE_KIND_MUL, LODE_NEED_MUL},
		{LODE_KIND_DIV, LODE_NEED_DIV},
		{LODE_KIND_FP, LODE_NEED_FP},
		{LODE_KIND_CONVERT, LODE_NEED_CONVERT},
		{LODE_KIND_ATOMIC, LODE_NEED_ATOMIC},
	};
	unsigned makes = 0;

	if ((kinds >> LODE_KIND_CALL & 1) != 0)
		return 1u << LODE_NEED_CALL;
	for (size_t i = 0; i < G_N_ELEMENTS(made); i++)
		if ((kinds >> made[i].kind & 1) != 0)
			makes |= 1u << made[i].need;
	return (uint16_t)makes;
}

static Code *code_at(Seen *self, uint32_t number)
{
	return &LODE_AT(self->codes, Code, number);
}

static Code *find_code(Seen *self, const LodeSteppedCode *stepped)
{
	if (stepped->number >= self->codes->len)
		g_array_set_size(self->codes, stepped->number + 1);
	Code *code = code_at(self, stepped->number);
	if (code->is_looked_for)
		return code;
	const char *path =
		lode_code_images_peek(lode_places_images(self->places), stepped->place.image)->path;
	uint32_t image = GPOINTER_TO_UINT(g_hash_table_lookup(self->images, path));
	uint64_t key = instruction_key(image - 1, stepped->place.address);
	uint32_t found = image == 0 ? 0
	                            : GPOINTER_TO_UINT(g_hash_table_lookup(
					      self->instructions, GSIZE_TO_POINTER(key)));
	*code = (Code){
		.is_looked_for = true,
		.is_call = (stepped->decoded.kinds >> LODE_KIND_CALL & 1) != 0,
		.makes = makes_of(stepped->decoded.kinds),
		.instruction = found == 0 ? LODE_NONE : found - 1,
		.function = LODE_NONE,
	};
	code->is_known = stepped->decoded.length > 0 && stepped->bytes != NULL &&
	                 lode_register_use_decode(&code->use, stepped->bytes, stepped->n_bytes,
				 stepped->place.address);
	if (found == 0)
		return code;
	const LodeInstruction *instruction = lode_profile_instruction(self->profile, found - 1);
	code->function = instruction->function;
	code->needs = needs_of(self->profile, instruction->attribute_set, "needs:");
	code->address = needs_of(self->profile, instruction->attribute_set, "address:");
	return code;
}

/* --- registers that changed --- */

static void check_changes(Seen *self, const LodeVisitedStep *step)
{
	const Code *before = self->before != LODE_NONE ? code_at(self, self->before) : NULL;

	for (int i = 0; before != NULL && before->is_known && i < LODE_WINDOW_REGISTERS; i++) {
		bool has_changed = step->step->registers[i] != self->registers[i];
		self->n_changed += has_changed;
		self->n_wrong += has_changed && (before->use.changes >> i & 1) == 0;
	}
}

/* --- what made the values --- */

/* Bits of LodeNeed: of the last instructions of this call, what made a register. */
static uint16_t makers_of(Seen *self, const Frame *frame, LodeRegisterMask bit)
{
	unsigned found = 0;

	for (uint32_t i = 1; i <= LODE_NEED_DISTANCE && i <= frame->n; i++) {
		const Code *code = code_at(
			self, frame->last[(frame->n - i) % LODE_NEED_DISTANCE].code);
		if (!code->is_known)
			break;
		if ((code->use.results & bit) != 0)
			found |= code->makes;
		if ((code->use.kills & bit) != 0)
			break;
	}
	return (uint16_t)found;
}

/* The last store of the loaded value, or of a part of it; LODE_N_NEEDS: none near. */
static LodeNeed storer_of(Seen *self, const Frame *frame, const LodeDataOperand *load)
{
	for (uint32_t i = 1; i <= LODE_NEED_DISTANCE && i <= frame->n; i++) {
		const Executed *executed = &frame->last[(frame->n - i) % LODE_NEED_DISTANCE];
		if (code_at(self, executed->code)->is_call)
			break;
		for (uint32_t k = 0; k < executed->n_stores; k++) {
			const LodeDataOperand *store = &executed->stores[k];
			uint64_t after = load->address - store->address;
			if (after < store->size)
				return store->size - after >= load->size ? LODE_NEED_STORE
				                                         : LODE_NEED_PART_STORE;
			if (-after < load->size)
				return LODE_NEED_PART_STORE;
		}
	}
	return LODE_N_NEEDS;
}

static void judge(Seen *self, Code *code, const Frame *frame, const LodeSteppedAccess *access)
{
	unsigned needed = 0, addressed = 0;
	bool is_load = code->use.memory.is_load && code->use.memory.size > 0 &&
	               access->n_operands > access->is_stack;

	if (!code->is_known || code->instruction == LODE_NONE ||
		(!frame->is_whole && frame->n < LODE_NEED_DISTANCE))
		return;
	for (LodeRegisterMask left = code->use.reads; left != 0; left &= left - 1) {
		LodeRegisterMask bit = left & -left;
		uint16_t makers = makers_of(self, frame, bit);
		needed |= makers;
		if ((code->use.address & bit) != 0)
			addressed |= makers;
	}
	LodeNeed storer = is_load ? storer_of(self, frame, &access->operands[0]) : LODE_N_NEEDS;
	if (storer != LODE_N_NEEDS)
		needed |= 1u << storer;
	code->n++;
	for (int k = 0; k < LODE_N_NEEDS; k++) {
		code->needed[k] += needed >> k & 1;
		code->addressed[k] += addressed >> k & 1;
	}
}

/* --- recurrences --- */

static void add_maker(Step *step, uint32_t maker, bool is_by_memory)
{
	if (maker == LODE_NONE || step->n_makers == MAX_MAKERS)
		return;
	step->makers[step->n_makers] = maker;
	step->is_by_memory[step->n_makers++] = is_by_memory;
}

static int cycles_of(uint16_t makes)
{
	return (makes >> LODE_NEED_DIV & 1) != 0       ? 14
	       : (makes >> LODE_NEED_CONVERT & 1) != 0 ? 5
	       : (makes >> LODE_NEED_FP & 1) != 0      ? 4
	       : (makes >> LODE_NEED_MUL & 1) != 0     ? 3
	                                               : 1;
}

static void *key_of_byte(const LodeDataOperand *operand, uint32_t byte)
{
	return GSIZE_TO_POINTER(operand->address + byte);
}

static void note_makers(Seen *self, Step *step, const Code *code, const LodeSteppedAccess *access)
{
	for (LodeRegisterMask left = code->use.reads; left != 0; left &= left - 1)
		add_maker(step, self->writers[__builtin_ctzll(left)], false);
	for (unsigned i = 0; i < access->n_operands; i++) {
		const LodeDataOperand *operand = &access->operands[i];
		uint32_t last = 0;
		if ((operand->access & LODE_ACCESS_LOAD) == 0)
			continue;
		step->cycles += LOAD_CYCLES;
		for (uint32_t byte = 0; byte < operand->size; byte++) {
			uint32_t found = GPOINTER_TO_UINT(
				g_hash_table_lookup(self->stored, key_of_byte(operand, byte)));
			if (found != 0 && found != last)
				add_maker(step, found - 1, true);
			last = found;
		}
	}
}

static void note_made(Seen *self, const Code *code, const LodeSteppedAccess *access)
{
	uint32_t now = self->n_steps - 1;

	for (LodeRegisterMask left = code->use.writes; left != 0; left &= left - 1)
		self->writers[__builtin_ctzll(left)] = now;
	for (unsigned i = 0; i < access->n_operands; i++)
		for (uint32_t byte = 0; byte < access->operands[i].size; byte++)
			if ((access->operands[i].access & LODE_ACCESS_STORE) != 0)
				g_hash_table_insert(self->stored,
					key_of_byte(&access->operands[i], byte),
					GUINT_TO_POINTER(now + 1));
}

/* From the execution before of the same instruction in the same call. */
static void find_recurrence(Seen *self, Code *code)
{
	uint32_t now = self->n_steps - 1, from = now;
	const Step *step = &self->steps[now];

	do {
		if (from == 0 || now - from == ITERATION)
			return;
		from--;
	} while (self->steps[from].code != step->code || self->steps[from].frame != step->frame);
	self->longest[from] = 0;
	self->is_by_memory[from] = false;
	for (uint32_t i = from + 1; i <= now; i++) {
		self->longest[i] = -1;
		for (uint32_t k = 0; k < self->steps[i].n_makers; k++) {
			uint32_t maker = self->steps[i].makers[k];
			if (maker < from || self->longest[maker] < 0 ||
				self->longest[maker] + self->steps[i].cycles <= self->longest[i])
				continue;
			self->longest[i] = self->longest[maker] + self->steps[i].cycles;
			self->is_by_memory[i] = self->is_by_memory[maker] ||
			                        self->steps[i].is_by_memory[k];
		}
	}
	code->n_repeated++;
	code->n_recurring += self->longest[now] >= 0;
	code->n_by_memory += self->longest[now] >= 0 && self->is_by_memory[now];
	code->cycles += MAX(self->longest[now], 0);
}

/* --- the walk --- */

static void begin_frame(Seen *self, bool is_whole)
{
	Frame *frame = &self->frames[self->top];

	frame->n = 0;
	frame->function = LODE_NONE;
	frame->id = self->n_frames++;
	frame->is_whole = is_whole;
}

static void begin_window(Seen *self)
{
	self->top = 0;
	begin_frame(self, false);
	self->before = LODE_NONE;
	self->n_steps = 0;
	memset(self->writers, 0xff, sizeof(self->writers));
	g_hash_table_remove_all(self->stored);
}

static void execute(Frame *frame, uint32_t code, const LodeSteppedAccess *access)
{
	Executed *executed = &frame->last[frame->n++ % LODE_NEED_DISTANCE];

	*executed = (Executed){.code = code};
	for (unsigned i = 0; i < access->n_operands && executed->n_stores < MAX_STORES; i++)
		if ((access->operands[i].access & LODE_ACCESS_STORE) != 0)
			executed->stores[executed->n_stores++] = access->operands[i];
}

static void change_frame(Seen *self, const LodeVisitedStep *step, const Code *code)
{
	if (code->is_call && step->next != NULL && self->top + 1 < FRAMES) {
		self->top++;
		begin_frame(self, true);
	} else if (step->code->decoded.branch == LODE_BRANCH_RETURN) {
		if (self->top > 0)
			self->top--;
		else
			begin_frame(self, false);
	}
}

static void visit(void *data, const LodeVisitedStep *step)
{
	Seen *self = data;
	LodeSteppedAccess access = {0};
	LodeUserRegisters registers;

	if (step->index == 0 || step->step->is_gap)
		begin_window(self);
	if (step->has_registers)
		check_changes(self, step);
	self->before = LODE_NONE;
	if (step->code == NULL || step->is_round || !step->has_registers) {
		begin_frame(self, false);
		return;
	}
	Code *code = find_code(self, step->code);
	if (step->next != NULL && !step->code->decoded.is_repeat) {
		memcpy(self->registers, step->step->registers, sizeof(self->registers));
		self->before = step->code->number;
	}
	Frame *frame = &self->frames[self->top];
	if (frame->function != LODE_NONE && code->function != LODE_NONE &&
		frame->function != code->function)
		begin_frame(self, true);
	if (code->function != LODE_NONE)
		frame->function = code->function;
	lode_user_registers_of_step(
		&registers, step->step->registers, step->window->thread_pointer);
	if (step->code->bytes == NULL ||
		!lode_stepped_access_read(&access, step->code->bytes, step->code->n_bytes,
			step->code->place.address, step->step->address - step->code->place.address,
			&registers))
		access.n_operands = 0;
	judge(self, code, frame, &access);
	if (code->is_known && !code->is_call && self->n_steps < LODE_WINDOW_MAX_STEPS) {
		Step *now = &self->steps[self->n_steps++];
		*now = (Step){.code = step->code->number,
			.frame = frame->id,
			.cycles = cycles_of(code->makes)};
		note_makers(self, now, code, &access);
		note_made(self, code, &access);
		find_recurrence(self, code);
	}
	execute(frame, step->code->number, &access);
	change_frame(self, step, code);
}

/* --- results --- */

static void list_difference(const Seen *self, const Code *code, const char *space, LodeNeed need)
{
	const LodeInstruction *instruction = lode_profile_instruction(
		self->profile, code->instruction);
	bool is_address = strcmp(space, "address") == 0;

	printf("  %s: %s:%s %s+0x%" G_GINT64_MODIFIER "x, %u of %u\n",
		((is_address ? code->address : code->needs) >> need & 1) != 0 ? "attribute alone"
									      : "seen alone",
		space, lode_need_name(need),
		lode_profile_function(self->profile, instruction->function)->name,
		instruction->address, (is_address ? code->addressed : code->needed)[need], code->n);
}

static void compare(Seen *self, LodeNeed need, bool is_address)
{
	const char *space = is_address ? "address" : "needs";
	unsigned n_both = 0, n_said = 0, n_seen = 0;

	for (guint i = 0; i < self->codes->len; i++) {
		const Code *code = code_at(self, i);
		double share = (double)(is_address ? code->addressed : code->needed)[need] /
		               MAX(code->n, 1);
		bool is_said = ((is_address ? code->address : code->needs) >> need & 1) != 0;
		if (code->n < FEW || (share > 0.35 && share < 0.65))
			continue;
		n_both += is_said && share >= 0.5;
		n_said += is_said && share < 0.5;
		n_seen += !is_said && share >= 0.5;
		if (self->lists && is_said != (share >= 0.5))
			list_difference(self, code, space, need);
	}
	if (n_both + n_said + n_seen > 0)
		printf("%-8s %-10s  both %5u  attribute alone %4u  seen alone %4u\n", space,
			lode_need_name(need), n_both, n_said, n_seen);
}

static void show_recurrences(Seen *self, const LodeWindowSteps *steps)
{
	uint64_t n[4] = {0};
	static const char *const names[] = {"on no cycle", "on one of at most 2 cycles",
		"longer, through registers", "longer, through memory"};
	g_autofree bool *is_shown = g_new0(bool, self->codes->len + 1);

	for (guint i = 0; i < self->codes->len; i++) {
		const Code *code = code_at(self, i);
		bool is_recurring = 2 * code->n_recurring >= MAX(code->n_repeated, 1);
		if (code->n_repeated >= FEW)
			n[!is_recurring                                      ? 0
				: code->cycles <= 2 * code->n_recurring      ? 1
				: 2 * code->n_by_memory <= code->n_recurring ? 2
									     : 3] +=
				code->n_repeated;
		is_shown[i] = code->n_repeated >= FEW && is_recurring &&
		              code->cycles > 2 * code->n_recurring;
	}
	for (int k = 0; k < 4; k++)
		printf("executions %-26s %8" G_GUINT64_FORMAT "\n", names[k], n[k]);
	for (int shown = 0; shown < SHOWN; shown++) {
		guint most = self->codes->len;
		for (guint i = 0; i < self->codes->len; i++)
			if (is_shown[i] &&
				(most == self->codes->len ||
					code_at(self, i)->cycles > code_at(self, most)->cycles))
				most = i;
		if (most == self->codes->len)
			break;
		const LodeSteppedCode *stepped = lode_window_steps_code(steps, most);
		const Code *code = code_at(self, most);
		char mnemonic[32];
		printf("  %" G_GINT64_MODIFIER "x %s: %u of %u, %.1f cycles%s\n",
			stepped->place.address,
			lode_instruction_mnemonic(&stepped->decoded, mnemonic, sizeof(mnemonic)),
			code->n_recurring, code->n_repeated, code->cycles / code->n_recurring,
			2 * code->n_by_memory > code->n_recurring ? ", through memory" : "");
		is_shown[most] = false;
	}
}

static bool read_mappings(Seen *self, LodePerfData *data, const char *path, GError **error)
{
	LodePerfRecord record;
	LodePerfNext next;

	lode_places_begin(self->places);
	while ((next = lode_perf_data_next(data, &record, error)) == LODE_PERF_NEXT_RECORD)
		lode_places_note(self->places, &record, record.time_ns);
	lode_places_freeze(self->places, data, path, NULL);
	return next != LODE_PERF_NEXT_ERROR;
}

static bool walk(Seen *self, LodePerfData *data, LodeWindowSteps *steps, GError **error)
{
	const LodeWindowVisitor visitor = {visit, self};

	for (guint i = 0; i < lode_perf_data_info(data)->window_logs->len; i++) {
		g_autoptr(GBytes) bytes = lode_perf_data_window_log(data, i, error);
		g_autoptr(LodeWindowLog)
			log = bytes != NULL ? lode_window_log_new(bytes, "log", error) : NULL;
		if (log == NULL || !lode_window_steps_walk(steps, log, &visitor, 1, NULL, error))
			return false;
	}
	return true;
}

static bool run(Seen *self, const char *recording, const char *profile, GError **error)
{
	g_autoptr(LodePerfData) data = lode_perf_data_open(recording, error);
	g_autoptr(LodeWindowSteps) steps = lode_window_steps_new(self->places);

	self->profile = data != NULL ? lode_profile_store_read(profile, NULL, error) : NULL;
	if (self->profile == NULL)
		return false;
	find_instructions(self);
	if (!read_mappings(self, data, recording, error) || !walk(self, data, steps, error))
		return false;
	printf("%" G_GUINT64_FORMAT " steps, %" G_GUINT64_FORMAT
	       " changed registers, %" G_GUINT64_FORMAT " of them not as decoded\n",
		lode_window_steps_figures(steps)->n_steps, self->n_changed, self->n_wrong);
	for (size_t k = 0; k < G_N_ELEMENTS(compared); k++)
		for (int is_address = 0; is_address <= 1; is_address++)
			compare(self, compared[k], is_address != 0);
	show_recurrences(self, steps);
	return true;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeCodeImages) images = lode_code_images_new(NULL, false);
	const LodePlacesOptions options = {.images = images};
	g_autoptr(LodePlaces) places = lode_places_new(&options);
	g_autofree Seen *seen = g_new0(Seen, 1);

	if (argc < 3) {
		g_printerr("dependences_seen RECORDING PROFILE [all]\n");
		return 2;
	}
	seen->places = places;
	seen->instructions = g_hash_table_new(lode_hash_pair, NULL);
	seen->images = g_hash_table_new(g_str_hash, g_str_equal);
	seen->stored = g_hash_table_new(lode_hash_pair, NULL);
	seen->codes = g_array_new(FALSE, TRUE, sizeof(Code));
	seen->lists = argc > 3;
	if (!run(seen, argv[1], argv[2], &error)) {
		g_printerr("%s\n", error->message);
		return 1;
	}
	return seen->n_wrong > 0;
}
