/* SPDX-License-Identifier: MIT */
/* Calls whose arguments repeat: in known walks, and in random ones as a naive computation from the
 * definition has them. */
#include "ingest/windows/window_visitors.h"

#include "ingest/windows/window_facts.h"
#include "seeds.h"

#include <string.h>

enum { N_CODES = 24, N_STEPS = 120, WINDOWS = 60, DEPTH = 20, N_ARGUMENTS = 6, XMM = 64 };
enum { RAX = 0, RCX = 1, RDX = 2, RSP = 4, RSI = 6, RDI = 7 };

#define BASE UINT64_C(0x400000)
#define STACK UINT64_C(0x7000000)

typedef enum { CALL, RETURN, READ, MOVE, CLEAR, VECTOR, NOTHING, UNKNOWN, N_KINDS } Kind;

static const struct {
	uint8_t length, bytes[5];
	/* bits of rdi, rsi, rdx, rcx, r8, r9, and XMM */
	unsigned reads, writes;
} kinds[N_KINDS] = {
	[CALL] = {5, {0xe8}, 0, 0},
	[RETURN] = {1, {0xc3}, 0, 0},
	[READ] = {3, {0x48, 0x89, 0xf8}, 1, 0},             /* mov rax, rdi */
	[MOVE] = {3, {0x48, 0x89, 0xf2}, 2, 4},             /* mov rdx, rsi */
	[CLEAR] = {2, {0x31, 0xff}, 0, 1},                  /* xor edi, edi */
	[VECTOR] = {4, {0xf2, 0x0f, 0x58, 0xc1}, XMM, XMM}, /* addsd xmm0, xmm1 */
	[NOTHING] = {1, {0x90}, 0, 0},
	[UNKNOWN] = {0},
};

static const uint8_t arguments[N_ARGUMENTS] = {RDI, RSI, RDX, RCX, 8, 9};

typedef struct {
	LodeWindowStep step;
	uint32_t code;
	bool is_begin, is_frequent, has_next;
	uint64_t next; /* address */
} Visited;

typedef struct {
	LodeSteppedCode codes[N_CODES];
	Kind kinds[N_CODES];
	GArray *facts;   /* LodeObservedInstruction */
	GArray *visited; /* Visited */
	LodeWindowCalls *calls;
	LodeWindowVisitor visitor;
} Walk;

static void set_up(Walk *self, const Kind *program)
{
	uint64_t address = BASE;

	*self = (Walk){
		.facts = g_array_new(FALSE, TRUE, sizeof(LodeObservedInstruction)),
		.visited = g_array_new(FALSE, TRUE, sizeof(Visited)),
	};
	self->calls = lode_window_calls_new(self->facts);
	self->visitor = lode_window_calls_visitor(self->calls);
	for (uint32_t i = 0; i < N_CODES; i++) {
		Kind kind = self->kinds[i] = program[i];
		self->codes[i] = (LodeSteppedCode){
			.place = {.address = address},
			.number = i,
			.decoded = {.length = kinds[kind].length,
				.kinds = kind == CALL ? 1u << LODE_KIND_CALL : 0},
			.bytes = kinds[kind].bytes,
			.n_bytes = kinds[kind].length,
		};
		address += MAX(kinds[kind].length, 1);
	}
}

static void tear_down(Walk *self)
{
	lode_window_calls_free(self->calls);
	g_array_unref(self->facts);
	g_array_unref(self->visited);
}

/* The steps since the last call, each followed by the next one. */
static void visit_window(Walk *self, guint first)
{
	const LodeWindowHead window = {.flags = LODE_WINDOW_HAS_REGISTERS};

	for (guint i = first; i < self->visited->len; i++) {
		Visited *it = &LODE_AT(self->visited, Visited, i);
		const Visited *next = i + 1 < self->visited->len ? it + 1 : NULL;
		it->has_next = next != NULL && !next->step.is_gap;
		it->next = it->has_next ? next->step.address : 0;
		const LodeVisitedStep step = {
			.window = &window,
			.index = i - first,
			.step = &it->step,
			.code = it->code != LODE_NONE ? &self->codes[it->code] : NULL,
			.next = it->has_next ? &next->step : NULL,
			.has_registers = true,
			.is_frequent = it->is_frequent,
		};
		self->visitor.visit(self->visitor.data, &step);
	}
}

/* --- the definition --- */

static bool is_known(const Walk *self, const Visited *visited)
{
	return visited->code != LODE_NONE && self->kinds[visited->code] != UNKNOWN;
}

static const Visited *visited_at(const Walk *self, guint i)
{
	return &LODE_AT(self->visited, Visited, i);
}

/* The first step from `i` on that belongs no longer to what goes on since then. */
static guint end_of_stretch(const Walk *self, guint i)
{
	for (i++; i < self->visited->len; i++)
		if (visited_at(self, i)->is_begin || !is_known(self, visited_at(self, i)))
			break;
	return i;
}

/* The step after the call's return; `end`: it did not return. */
static guint return_of(const Walk *self, guint call, guint end, guint *out_left)
{
	const Visited *begin = visited_at(self, call);
	uint64_t stack = begin->step.registers[RSP];

	for (*out_left = call + 1; *out_left < end; ++*out_left) {
		const LodeWindowStep *step = &visited_at(self, *out_left)->step;
		if (step->registers[RSP] < stack)
			continue;
		return step->registers[RSP] == stack &&
		                       step->address == begin->step.address + kinds[CALL].length
		               ? *out_left
		               : end;
	}
	return end;
}

static void check_place(const Walk *self, uint32_t code)
{
	LodeObservedInstruction expected = {0};
	unsigned read = 0;
	bool has_returned = false;

	for (guint pass = 0; pass < 2; pass++) {
		guint before = LODE_NONE, before_end = 0, before_return = 0;
		for (guint i = 0; i < self->visited->len; i++) {
			const Visited *visited = visited_at(self, i);
			guint end = end_of_stretch(self, i), left;
			if (visited->code != code || !visited->has_next)
				continue;
			guint returned = return_of(self, i, end, &left);
			unsigned written = 0;
			for (guint k = i + 1; k < left; k++) {
				Kind kind = self->kinds[visited_at(self, k)->code];
				read |= kinds[kind].reads & ~written;
				written |= kinds[kind].writes;
			}
			has_returned |= returned < end;
			const Visited *other = before != LODE_NONE ? visited_at(self, before)
			                                           : NULL;
			bool is_compared = pass > 0 && other != NULL && before_end == end &&
			                   other->is_frequent && visited->is_frequent;
			bool is_same = is_compared && other->next == visited->next;
			for (unsigned k = 0; k < N_ARGUMENTS && is_same; k++)
				is_same = (read >> k & 1) == 0 ||
				          other->step.registers[arguments[k]] ==
				                  visited->step.registers[arguments[k]];
			expected.calls.compared += is_compared;
			expected.calls.same_arguments += is_same;
			if (is_same && before_return < end && before_return <= i &&
				returned < end) {
				expected.calls.compared_results++;
				expected.calls.same_results +=
					visited_at(self, returned)->step.registers[RAX] ==
					visited_at(self, before_return)->step.registers[RAX];
			}
			before = i;
			before_end = end;
			before_return = returned;
		}
	}
	if (!has_returned || read == 0 || (read & XMM) != 0)
		expected = (LodeObservedInstruction){0};
	const LodeObservedInstruction found = *lode_window_facts_at(self->facts, code);
	g_assert_cmpuint(found.calls.compared, ==, expected.calls.compared);
	g_assert_cmpuint(found.calls.same_arguments, ==, expected.calls.same_arguments);
	g_assert_cmpuint(found.calls.compared_results, ==, expected.calls.compared_results);
	g_assert_cmpuint(found.calls.same_results, ==, expected.calls.same_results);
}

/* --- random walks --- */

static void add_random_window(Walk *self)
{
	uint64_t returns[DEPTH + 1], stack = STACK;
	uint32_t code = (uint32_t)random_int_range(0, N_CODES), n_returns = 0;
	guint first = self->visited->len;

	for (unsigned i = 0; i < N_STEPS; i++) {
		Visited visited = {.code = code,
			.is_frequent = random_int_range(0, 20) > 0,
			.is_begin = i == 0 || random_int_range(0, 100) == 0};
		visited.step.is_gap = i > 0 && visited.is_begin;
		visited.step.address = self->codes[code].place.address;
		for (unsigned k = 0; k < LODE_WINDOW_REGISTERS; k++)
			visited.step.registers[k] = (uint64_t)(random_int_range(0, 6) == 0);
		visited.step.registers[RSP] = stack;
		bool is_call = self->kinds[code] == CALL, is_return = self->kinds[code] == RETURN;
		bool is_odd = random_int_range(0, 40) == 0;
		if (random_int_range(0, 200) == 0)
			visited.code = LODE_NONE;
		g_array_append_val(self->visited, visited);
		if (is_odd)
			stack += 8 * (uint64_t)random_int_range(0, 4);
		if (is_call && n_returns < DEPTH) {
			returns[n_returns++] = (code + 1) % N_CODES;
			stack -= 8;
		} else if (is_call) {
			/* as of code that asks for its own address */
			code = (code + 1) % N_CODES;
			continue;
		}
		if (is_return && n_returns > 0 && !is_odd) {
			code = (uint32_t)returns[--n_returns];
			stack += 8;
			continue;
		}
		code = is_call || is_odd ? (uint32_t)random_int_range(0, N_CODES)
		                         : (code + 1) % N_CODES;
	}
	visit_window(self, first);
}

static void test_random(void)
{
	for (unsigned round = random_rounds(40, 400); round > 0; round--) {
		Kind program[N_CODES];
		Walk walk;
		unsigned n_compared = 0;

		for (uint32_t i = 0; i < N_CODES; i++) {
			int draw = random_int_range(0, 20);
			program[i] = draw < 5    ? CALL
			             : draw < 11 ? RETURN
			             : draw < 19 ? (Kind)random_int_range(READ, VECTOR)
			                         : (Kind)random_int_range(VECTOR, N_KINDS);
		}
		set_up(&walk, program);
		for (int i = 0; i < WINDOWS; i++)
			add_random_window(&walk);
		lode_window_calls_finish(walk.calls);
		for (uint32_t i = 0; i < N_CODES; i++) {
			check_place(&walk, i);
			n_compared += lode_window_facts_at(walk.facts, i)->calls.compared;
		}
		g_test_message("%u compared", n_compared);
		tear_down(&walk);
	}
}

/* --- known walks --- */

/* A call of the callee at 4, with these arguments and this result. */
static void add_call(Walk *self, uint32_t from, uint32_t callee, uint32_t end, uint64_t first,
	uint64_t second, uint64_t result)
{
	for (uint32_t i = LODE_NONE; i != end + 1; i = i == LODE_NONE ? callee : i + 1) {
		uint32_t code = i == LODE_NONE ? from : i;
		Visited visited = {.code = code, .is_frequent = true};
		visited.step.address = self->codes[code].place.address;
		visited.step.registers[RSP] = i == LODE_NONE ? STACK : STACK - 8;
		visited.step.registers[RDI] = first;
		visited.step.registers[RSI] = second;
		g_array_append_val(self->visited, visited);
	}
	Visited after = {.code = from + 1, .is_frequent = true};
	after.step.address = self->codes[from + 1].place.address;
	after.step.registers[RSP] = STACK;
	after.step.registers[RAX] = result;
	g_array_append_val(self->visited, after);
}

/* A callee that reads its first argument, and one that reads a vector. */
static void test_known(void)
{
	const Kind program[N_CODES] = {CALL, NOTHING, CALL, NOTHING, READ, RETURN, VECTOR, RETURN};
	Walk walk;

	set_up(&walk, program);
	for (unsigned i = 0; i < 10; i++) {
		add_call(&walk, 0, 4, 5, 7, i, i < 5 ? 1 : i);
		add_call(&walk, 2, 6, 7, 7, 7, 0);
	}
	LODE_AT(walk.visited, Visited, 0).is_begin = true;
	visit_window(&walk, 0);
	lode_window_calls_finish(walk.calls);
	const LodeObservedInstruction facts = *lode_window_facts_at(walk.facts, 0);
	g_assert_cmpuint(facts.calls.compared, ==, 9);
	g_assert_cmpuint(facts.calls.same_arguments, ==, 9);
	g_assert_cmpuint(facts.calls.compared_results, ==, 9);
	g_assert_cmpuint(facts.calls.same_results, ==, 4);
	g_assert_cmpuint(lode_window_facts_at(walk.facts, 2)->calls.compared, ==, 0);
	tear_down(&walk);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/window_calls/known", test_known);
	add_random_test("/window_calls/random", test_random, "R02S3b7a90c1d2e4f5061728394a5b6c7d8e",
		"R02S90ab12cd34ef56781a2b3c4d5e6f7081", NULL);
	return g_test_run();
}
