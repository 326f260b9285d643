/* SPDX-License-Identifier: MIT */
#include "witness.h"

#include "images/data/stepped_access.h"
#include "images/instructions/instruction_decoder.h"

#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>

typedef struct {
	TruthRow row;
	LodeDataAccess answer;
	uint64_t bias;
	LodeUserRegisters registers;
	uint64_t pc; /* of the question, in the image */
	ImageSetFile *file;
} OpenClaim;

/* A claim by the rule next-round, until its instruction runs again. */
typedef struct {
	OpenClaim claim;
	TrueAccess waited;
	uint64_t stack_pointer; /* when it waited */
	unsigned n_steps;       /* since then, of its function or its callers */
} OpenRound;

/* A round has no more of them, by far. */
enum { MOST_ROUND_STEPS = 300 };

typedef struct {
	TrueAccess now, last;
	bool has_last;
	TrueAccess waited; /* of the last instruction, or of the compare that is one with it */
	uint64_t waited_stack_pointer;
	bool has_waited; /* it is known, and no jump that takes no time */
	bool fuses;      /* `waited` is a compare of memory, which is one with a jump after it */
	bool is_watched; /* `now` is that of the instruction which runs next */
	struct user_regs_struct registers;
	uint8_t before[TRUE_MAX_PROOF];
	GArray *open;          /* OpenClaim: answers about the next access */
	GArray *rounds;        /* OpenRound */
	LodeDataOperand stack; /* that the instruction is said to access; size 0: none */
	uint8_t stack_bytes[TRUE_MAX_PROOF]; /* what lay there before */
} WitnessThread;

void witness_init(Witness *self, const WitnessOptions *options)
{
	*self = (Witness){.options = *options};
	image_set_init(&self->images);
	truth_table_init(&self->table);
}

void witness_clear(Witness *self)
{
	live_mappings_close(&self->mappings);
	image_set_clear(&self->images);
	truth_table_clear(&self->table);
}

/* --- wrong ones, shown --- */

static void show_instruction(GString *out, const ImageSetFile *file, uint64_t address)
{
	LodeInstructionDecoder decoder;
	char text[128] = "?";
	size_t n = 0;
	const uint8_t *code = image_set_bytes(file, address, &n);

	lode_instruction_decoder_init(&decoder);
	g_string_append_printf(out, "0x%" PRIx64 " ", address);
	for (size_t i = 0; code != NULL && i < MIN(n, 12); i++)
		g_string_append_printf(out, "%02x", code[i]);
	if (code != NULL)
		lode_instruction_disassemble(
			&decoder, code, MIN(n, TRUE_MAX_CODE), address, text, sizeof(text));
	g_string_append_printf(out, " %s", text);
}

static void show_registers(GString *out, const LodeUserRegisters *registers)
{
	static const char *const names[LODE_N_REGISTERS] = {"rax", "rcx", "rdx", "rbx", "rsp",
		"rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "flags"};

	g_string_append(out, "\n     ");
	for (unsigned i = 0; i < LODE_N_REGISTERS; i++)
		g_string_append_printf(out, " %s=%" PRIx64, names[i], registers->values[i]);
}

static void show_wrong(
	Witness *self, const OpenClaim *claim, const char *fault, const TrueAccess *truth)
{
	GString *out = self->table.shown[claim->row];
	const LodeDataAccess *answer = &claim->answer;

	if (!truth_table_shows(&self->table, claim->row, claim->pc))
		return;
	g_string_append_printf(out, "  wrong %s (%s) by %s at ", fault, truth_row_name(claim->row),
		lode_address_rule_to_text(answer->rule));
	show_instruction(out, claim->file, claim->pc);
	g_string_append(out, "\n      claimed ");
	show_instruction(out, claim->file, answer->pc);
	for (unsigned i = 0; i < answer->n_operands; i++)
		g_string_append_printf(out, " [0x%" PRIx64 "] %u bytes, access %u",
			answer->operands[i].address, answer->operands[i].size,
			answer->operands[i].access);
	g_string_append(out, "\n      true    ");
	if (truth != NULL)
		show_instruction(out, claim->file, truth->pc - claim->bias);
	for (unsigned i = 0; truth != NULL && i < truth->n_operands; i++)
		g_string_append_printf(out, " [0x%" PRIx64 "] %u bytes, access %u",
			truth->operands[i].address, truth->operands[i].size,
			truth->operands[i].access);
	show_registers(out, &claim->registers);
	g_string_append_c(out, '\n');
}

/* --- asking --- */

static const uint8_t *bytes_for_rules(void *data, uint64_t address, size_t *out_n)
{
	const Witness *self = data;

	return image_set_bytes(self->place.file, address, out_n);
}

static bool is_valid_for_rules(void *data, uint64_t address, uint32_t size, uint8_t access)
{
	return live_mappings_are_valid(&((Witness *)data)->mappings, address, size, access);
}

static void find_place(Witness *self, uint64_t pc)
{
	const LiveMapping *mapping;

	if (!self->mappings.is_stale && pc >= self->place_start && pc < self->place_end)
		return;
	mapping = live_mappings_find(&self->mappings, pc);
	self->place = (ImagePlace){0};
	self->place_start = self->place_end = 0;
	if (mapping == NULL)
		return;
	self->place = image_set_place(
		&self->images, mapping->path, pc, pc - mapping->start + mapping->offset);
	self->place_start = mapping->start;
	self->place_end = mapping->end;
}

static LodeUserRegisters registers_for_rules(
	const Witness *self, const struct user_regs_struct *registers)
{
	LodeUserRegisters result = {
		.known = (1u << LODE_N_REGISTERS) - 1,
		.has_fs_base = self->options.has_thread_bases,
		.has_gs_base = self->options.has_thread_bases,
	};

	true_registers(registers, result.values);
	if (self->options.has_thread_bases) {
		result.fs_base = registers->fs_base;
		result.gs_base = registers->gs_base;
	}
	return result;
}

/* What is wrong with an answer about what waited; also with one that gives no address. */
static const char *waiting_fault(const OpenClaim *claim, const TrueAccess *truth)
{
	const LodeDataAccess *answer = &claim->answer;
	bool accesses = truth->n_operands > 0 || truth->has_vector_index;

	if (answer->rule == LODE_RULE_NEXT_ROUND) /* the address is judged later */
		return answer->pc + claim->bias != truth->pc ? "pc" : NULL;
	if (answer->rule != LODE_RULE_NONE)
		return truth_fault(answer, claim->bias, truth);
	if (answer->reason == LODE_REASON_NOT_MEMORY)
		return accesses ? "not-memory" : NULL;
	/* a string instruction may have been repeated no times */
	return answer->waiting_pc != 0 && answer->waiting_pc + claim->bias != truth->pc
	               ? "waiting pc"
	               : NULL;
}

/* Also where it is one of several, one of these must be it. */
static const char *ways_fault(
	const OpenClaim *claim, const LodeDataWay *ways, unsigned n, const TrueAccess *truth)
{
	OpenClaim way = *claim;

	for (unsigned i = 0; i < n; i++) {
		way.answer = ways[i].access;
		if (waiting_fault(&way, truth) == NULL)
			return NULL;
	}
	return n > 0 ? "ways" : NULL;
}

static void settle(Witness *self, const OpenClaim *claim, const TrueAccess *truth)
{
	const char *fault = claim->answer.rule != LODE_RULE_NONE
	                            ? truth_fault(&claim->answer, claim->bias, truth)
	                            : NULL;

	truth_table_count(&self->table, claim->row, &claim->answer, fault);
	if (fault != NULL)
		show_wrong(self, claim, fault, truth);
}

/* A claim about what comes is kept until it comes. */
static void judge(Witness *self, WitnessThread *thread, const OpenClaim *claim)
{
	switch (claim->answer.rule) {
	case LODE_RULE_FORWARD:
		g_array_append_val(thread->open, *claim);
		break;
	case LODE_RULE_BACKWARD:
		if (thread->has_last)
			settle(self, claim, &thread->last);
		break;
	default:
		settle(self, claim, &thread->now);
		break;
	}
}

static bool accesses(const TrueAccess *access)
{
	return access->n_operands > 0 || access->has_vector_index;
}

/* "[rax+0x8]" of an instruction. */
static void write_operand(const ImageSetFile *file, uint64_t address, char text[128])
{
	LodeInstructionDecoder decoder;
	size_t n = 0;
	const uint8_t *code = image_set_bytes(file, address, &n);
	const char *start, *end;

	lode_instruction_decoder_init(&decoder);
	text[0] = '\0';
	if (code != NULL)
		lode_instruction_disassemble(
			&decoder, code, MIN(n, TRUE_MAX_CODE), address, text, 128);
	start = strchr(text, '[');
	end = start != NULL ? strchr(start, ']') : NULL;
	if (end == NULL)
		text[0] = '\0';
	else
		memmove(text, start, (size_t)(end - start));
	text[end == NULL ? 0 : end - start] = '\0';
}

/* A copy of the instruction, by unrolling, accesses the claimed address. */
static bool is_true_of_copy(const OpenRound *round, const WitnessThread *thread)
{
	LodeDataAccess answer = round->claim.answer;
	char now[128], then[128];

	answer.pc = thread->now.pc - round->claim.bias;
	if (truth_fault(&answer, round->claim.bias, &thread->now) != NULL)
		return false;
	write_operand(round->claim.file, answer.pc, now);
	write_operand(round->claim.file, round->claim.answer.pc, then);
	return strcmp(now, then) == 0;
}

/* The same activation of the function runs its instruction again; or it ends. */
static void judge_round(
	Witness *self, const OpenRound *round, const char *fault, const TrueAccess *now)
{
	TruthCounts *counts = &self->table.rows[TRUTH_WAITED];
	const LodeDataAccess *answer = &round->claim.answer;

	counts->n_late += fault == NULL;
	counts->n_late_same += fault == NULL &&
	                       truth_fault(answer, round->claim.bias, &round->waited) == NULL;
	counts->n_wrong += fault != NULL;
	if (fault != NULL)
		show_wrong(self, &round->claim, fault, now);
}

static void judge_rounds(
	Witness *self, WitnessThread *thread, const struct user_regs_struct *registers)
{
	for (guint i = thread->rounds->len; i-- > 0;) {
		OpenRound *round = &g_array_index(thread->rounds, OpenRound, i);
		bool is_same = registers->rsp == round->stack_pointer;
		bool is_again = round->waited.pc == registers->rip;
		bool is_copy = !is_again && is_same && is_true_of_copy(round, thread);

		round->n_steps += registers->rsp >= round->stack_pointer;
		if (!is_again && !is_copy && round->n_steps <= MOST_ROUND_STEPS)
			continue;
		judge_round(self, round,
			is_copy ? NULL
			: is_again && is_same
				? truth_fault(&round->claim.answer, round->claim.bias, &thread->now)
				: "round",
			&thread->now);
		g_array_remove_index_fast(thread->rounds, i);
	}
}

static void ask_waited(Witness *self, const WitnessThread *thread,
	const LodeDataAccessContext *context, const LodeDataAccessQuestion *question,
	OpenClaim *claim)
{
	LodeDataWay ways[LODE_MAX_DATA_WAYS];
	const TrueAccess *truth;
	const char *fault;

	lode_data_access_find(context, question, &claim->answer);
	truth = claim->answer.rule == LODE_RULE_AT_PC ? &thread->now : &thread->waited;
	if (claim->answer.rule != LODE_RULE_AT_PC && !thread->has_waited)
		return;
	fault = claim->answer.reason == LODE_REASON_AMBIGUOUS
	                ? ways_fault(claim, ways, lode_data_access_ways(context, question, ways),
				  truth)
	                : waiting_fault(claim, truth);
	truth_table_count(&self->table, claim->row, &claim->answer, fault);
	if (fault != NULL) {
		show_wrong(self, claim, fault, truth);
	} else if (claim->answer.rule == LODE_RULE_NEXT_ROUND) {
		const OpenRound round = {.claim = *claim,
			.waited = *truth,
			.stack_pointer = thread->waited_stack_pointer};
		g_array_append_val(thread->rounds, round);
	}
}

static void ask(Witness *self, WitnessThread *thread)
{
	static const LodeAddressRule rules[] = {
		LODE_RULE_AT_PC, LODE_RULE_FORWARD, LODE_RULE_BACKWARD};
	const LodeDataAccessContext context = {bytes_for_rules, is_valid_for_rules, self};
	LodeDataAccessQuestion question;
	OpenClaim claim;
	uint8_t stack[WITNESS_MAX_STACK];

	find_place(self, thread->now.pc);
	claim = (OpenClaim){
		.bias = self->place.bias,
		.pc = thread->now.pc - self->place.bias,
		.file = self->place.file,
		.registers = registers_for_rules(self, &thread->registers),
	};
	question = (LodeDataAccessQuestion){
		.pc = claim.pc,
		.bias = claim.bias,
		.registers = &claim.registers,
		.stack = stack,
		.stack_size = live_mappings_read(
			&self->mappings, thread->registers.rsp, stack, self->options.stack_bytes),
		.flow = image_set_flow(claim.file, claim.pc),
		.targets = image_set_targets(claim.file),
	};
	for (claim.row = TRUTH_AT_PC; claim.row <= TRUTH_BACKWARD; claim.row++) {
		if (claim.row == TRUTH_FORWARD && accesses(&thread->now))
			continue;
		lode_data_access_apply(&context, &question, rules[claim.row], &claim.answer);
		judge(self, thread, &claim);
	}
	ask_waited(self, thread, &context, &question, &claim);
	question.wants_next = true;
	for (claim.row = TRUTH_TOGETHER; claim.row <= TRUTH_TRIGGER_BEFORE; claim.row++) {
		question.is_trigger_before = claim.row == TRUTH_TRIGGER_BEFORE;
		lode_data_access_find(&context, &question, &claim.answer);
		judge(self, thread, &claim);
	}
}

/* The claim of an instruction with all its registers, as a window has them, which knows its stack
 * too: that is judged by what the instruction does to the stack pointer. */
static void ask_stepped(Witness *self, WitnessThread *thread, const uint8_t *code, size_t n)
{
	const TrueAccess *truth = &thread->now;
	OpenClaim claim = {.row = TRUTH_STEPPED,
		.pc = truth->pc,
		.answer = {.pc = truth->pc, .reason = LODE_REASON_NOT_MEMORY}};
	const char *fault = NULL;
	LodeSteppedAccess access;
	uint64_t values[17];

	true_registers(&thread->registers, values);
	lode_user_registers_of_step(&claim.registers, values, thread->registers.fs_base);
	if (!lode_stepped_access_read(&access, code, n, truth->pc, 0, &claim.registers))
		return;
	if (access.is_stack) {
		thread->stack = access.operands[--access.n_operands];
		live_mappings_read(&self->mappings, thread->stack.address, thread->stack_bytes,
			MIN(thread->stack.size, sizeof(thread->stack_bytes)));
		claim.answer.rule = LODE_RULE_WINDOW;
	}
	if (access.reason != LODE_REASON_NONE) {
		claim.answer.rule = LODE_RULE_NONE;
		claim.answer.reason = access.reason;
	} else if (access.n_operands > 0 || accesses(truth)) {
		claim.answer.rule = LODE_RULE_WINDOW;
		claim.answer.n_operands = access.n_operands;
		memcpy(claim.answer.operands, access.operands, sizeof(claim.answer.operands));
		fault = truth_fault(&claim.answer, 0, truth);
	}
	truth_table_count(&self->table, TRUTH_STEPPED, &claim.answer, fault);
	if (fault != NULL)
		show_wrong(self, &claim, fault, truth);
}

/* A store must be at the stack pointer of now; a load must end there, or must have read the address
 * that is executed next. */
static void judge_stack(
	Witness *self, WitnessThread *thread, const struct user_regs_struct *registers)
{
	const LodeDataOperand *stack = &thread->stack;
	uint64_t word;

	memcpy(&word, thread->stack_bytes, sizeof(word));
	bool is_right = stack->access == LODE_ACCESS_STORE
	                        ? stack->address == registers->rsp
	                        : stack->address + stack->size == registers->rsp ||
	                                  word == registers->rip;
	self->table.rows[TRUTH_STEPPED].n_wrong += !is_right;
	if (!is_right)
		g_string_append_printf(self->table.shown[TRUTH_STEPPED],
			"  wrong stack at 0x%" PRIx64 ": 0x%" PRIx64 ", rsp then 0x%llx\n",
			thread->now.pc, stack->address, registers->rsp);
}

/* --- watching --- */

static void *begin_thread(void *user)
{
	WitnessThread *thread = g_new0(WitnessThread, 1);

	(void)user;
	thread->open = g_array_new(FALSE, FALSE, sizeof(OpenClaim));
	thread->rounds = g_array_new(FALSE, FALSE, sizeof(OpenRound));
	return thread;
}

static void forget(Witness *self, WitnessThread *thread)
{
	self->table.n_unknown_next += thread->open->len + thread->rounds->len;
	g_array_set_size(thread->open, 0);
	g_array_set_size(thread->rounds, 0);
	thread->has_last = false;
	thread->has_waited = false;
	thread->fuses = false;
	thread->is_watched = false;
}

static void end_thread(void *user, void *data)
{
	WitnessThread *thread = data;

	forget(user, thread);
	g_array_unref(thread->open);
	g_array_unref(thread->rounds);
	g_free(thread);
}

static void interrupted(void *user, void *data)
{
	forget(user, data);
}

static bool changes_mappings(uint64_t system_call)
{
	switch (system_call) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_mremap:
	case SYS_brk:
	case SYS_execve:
	case SYS_shmat:
	case SYS_shmdt:
		return true;
	default:
		return false;
	}
}

/* Pages of the kernel ([vvar]) can be read by the program alone. */
static bool read_operand(const Witness *self, const TrueAccess *access, uint8_t *buffer)
{
	const TrueOperand *operand = &access->operands[0];

	return live_mappings_read(&self->mappings, operand->address, buffer, operand->size) ==
	       operand->size;
}

static bool before(
	void *user, void *data, const struct user_regs_struct *registers, bool *out_is_system_call)
{
	Witness *self = user;
	WitnessThread *thread = data;
	const WitnessOptions *options = &self->options;
	uint8_t code[TRUE_MAX_CODE];
	uint64_t number = self->n_seen++;
	size_t n = live_mappings_read(&self->mappings, registers->rip, code, sizeof(code));

	if (options->n_steps > 0 && number >= options->n_skipped + options->n_steps)
		return false;
	thread->registers = *registers;
	thread->is_watched = true_access_read(&thread->now, code, n, registers);
	thread->stack.size = 0;
	*out_is_system_call = thread->now.is_system_call;
	if (thread->now.is_system_call && changes_mappings(registers->rax))
		self->mappings.is_stale = true;
	if (!thread->is_watched) {
		forget(self, thread);
		return true;
	}
	if (thread->now.proof != TRUE_PROOF_NONE &&
		!read_operand(self, &thread->now, thread->before))
		thread->now.proof = TRUE_PROOF_NONE;
	if (number >= options->n_skipped && (number - options->n_skipped) % options->every == 0) {
		ask(self, thread);
		ask_stepped(self, thread, code, n);
	}
	judge_rounds(self, thread, registers); /* it may be the sampled instruction already */
	return true;
}

static void verify(Witness *self, WitnessThread *thread, const struct user_regs_struct *registers)
{
	uint8_t after[TRUE_MAX_PROOF] = {0};
	TrueVerdict verdict;

	self->table.n_accesses++;
	if (thread->now.proof == TRUE_PROOF_NONE || !read_operand(self, &thread->now, after))
		return;
	verdict = true_access_verify(&thread->now, thread->before, after, registers);
	self->table.n_proven += verdict == TRUE_PROVEN;
	self->table.n_refuted += verdict == TRUE_REFUTED;
}

static void note_waited(WitnessThread *thread)
{
	bool is_pair = thread->fuses && thread->now.is_conditional_jump;

	if (!is_pair) {
		thread->waited = thread->now;
		thread->waited_stack_pointer = thread->registers.rsp;
	}
	thread->fuses = thread->is_watched && thread->now.fuses_with_jump;
	thread->has_waited = thread->is_watched && !thread->now.is_direct_jump;
}

static void after(void *user, void *data, const struct user_regs_struct *registers)
{
	Witness *self = user;
	WitnessThread *thread = data;

	self->table.n_steps++;
	if (thread->now.is_system_call && changes_mappings(thread->registers.rax))
		self->mappings.is_stale = true;
	note_waited(thread);
	if (thread->stack.size > 0)
		judge_stack(self, thread, registers);
	if (!thread->is_watched || !accesses(&thread->now))
		return;
	verify(self, thread, registers);
	for (guint i = 0; i < thread->open->len; i++)
		settle(self, &g_array_index(thread->open, OpenClaim, i), &thread->now);
	g_array_set_size(thread->open, 0);
	thread->last = thread->now;
	thread->has_last = true;
}

SteppedProgramWatcher witness_watcher(Witness *self)
{
	return (SteppedProgramWatcher){
		.begin = begin_thread,
		.end = end_thread,
		.before = before,
		.after = after,
		.interrupted = interrupted,
		.user = self,
	};
}
