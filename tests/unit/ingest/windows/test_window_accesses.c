/* SPDX-License-Identifier: MIT */
/* Steps of code that is written out here, with the registers before each: what they access is known
 * without decoding anything. */
#include "ingest/memory/memory_reading.h"
#include "ingest/windows/window_facts.h"
#include "ingest/windows/window_visitors.h"

#include "seeds.h"

enum { BIAS = 0x10000, PID = 77, TID = 78 };

typedef struct {
	LodeCodeImages *images;
	LodePlaces *places;
	GArray *facts;
	LodeWindowAccesses *accesses;
	LodeWindowVisitor visitor;
	LodeMemoryReading *memory;
	LodeWindowHead window;
	LodeWindowStep step;
	LodeVisitedStep visited;
	LodeWindowLogHeader log;
} Fixture;

static void set_up(Fixture *self)
{
	memset(self, 0, sizeof(*self));
	self->images = lode_code_images_new(NULL, false);
	const LodePlacesOptions placing = {.images = self->images};
	self->places = lode_places_new(&placing);
	lode_places_begin(self->places);
	lode_places_freeze(self->places, NULL, NULL, NULL);
	self->facts = g_array_new(FALSE, TRUE, sizeof(LodeObservedInstruction));
	self->accesses = lode_window_accesses_new(self->facts, self->places);
	self->visitor = lode_window_accesses_visitor(self->accesses);
	const LodeMemoryReadingOptions reading = {.places = self->places};
	self->memory = lode_memory_reading_new(&reading);
	self->window = (LodeWindowHead){.tid = TID,
		.flags = LODE_WINDOW_HAS_REGISTERS,
		.begin_ns = 1000,
		.thread_pointer = 0x7000};
	self->log = (LodeWindowLogHeader){0};
	self->visited = (LodeVisitedStep){
		.window = &self->window,
		.log = &self->log,
		.pid = PID,
		.step = &self->step,
		.has_registers = true,
		.is_frequent = true,
	};
}

static void tear_down(Fixture *self)
{
	lode_memory_reading_free(self->memory);
	lode_window_accesses_free(self->accesses);
	g_array_unref(self->facts);
	lode_places_free(self->places);
	lode_code_images_free(self->images);
}

typedef struct {
	const char *name;
	uint8_t length, bytes[15];
	unsigned n_operands;
	struct {
		uint64_t address;
		uint32_t size;
		uint8_t access;
	} operands[3];
} Case;

/* The registers of all cases: rax 0x100, rcx 0x200, rdx 0x300 … r15 0x1000. */
static uint64_t register_of(unsigned number)
{
	return 0x100 * (number + UINT64_C(1));
}

enum { L = LODE_ACCESS_LOAD, S = LODE_ACCESS_STORE, M = L | S };

static const Case cases[] = {
	{"mov eax, [rbx]", 2, {0x8b, 0x03}, 1, {{0x400, 4, L}}},
	{"mov [rbx + rcx*8 + 16], rax", 5, {0x48, 0x89, 0x44, 0xcb, 0x10}, 1,
		{{0x400 + 8 * 0x200 + 16, 8, S}}},
	{"mov al, [rbx - 1]", 3, {0x8a, 0x43, 0xff}, 1, {{0x3ff, 1, L}}},
	{"mov eax, [rip + 0x20]", 6, {0x8b, 0x05, 0x20, 0, 0, 0}, 1,
		{{BIAS + 0x5000 + 6 + 0x20, 4, L}}},
	{"add [r12], edx", 4, {0x41, 0x01, 0x14, 0x24}, 1, {{0xd00, 4, M}}},
	{"mov rax, fs:[0x28]", 9, {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, 1,
		{{0x7028, 8, L}}},
	{"mov eax, [ebx]", 3, {0x67, 0x8b, 0x03}, 1, {{0x400, 4, L}}},
	{"movups xmm0, [rdi]", 3, {0x0f, 0x10, 0x07}, 1, {{0x800, 16, L}}},
	{"vmovups ymm0, [rdi]", 4, {0xc5, 0xfc, 0x10, 0x07}, 1, {{0x800, 32, L}}},
	{"push rbx", 1, {0x53}, 1, {{0x500 - 8, 8, S}}},
	{"push [rbx]", 2, {0xff, 0x33}, 2, {{0x400, 8, L}, {0x500 - 8, 8, S}}},
	{"pop r13", 2, {0x41, 0x5d}, 1, {{0x500, 8, L}}},
	{"pop [rsp]", 3, {0x8f, 0x04, 0x24}, 2, {{0x508, 8, S}, {0x500, 8, L}}},
	{"call +5", 5, {0xe8, 5, 0, 0, 0}, 1, {{0x500 - 8, 8, S}}},
	{"call [rax]", 2, {0xff, 0x10}, 2, {{0x100, 8, L}, {0x500 - 8, 8, S}}},
	{"ret", 1, {0xc3}, 1, {{0x500, 8, L}}},
	{"ret 16", 3, {0xc2, 0x10, 0}, 1, {{0x500, 8, L}}},
	{"leave", 1, {0xc9}, 1, {{0x600, 8, L}}},
	{"movsb", 1, {0xa4}, 2, {{0x800, 1, S}, {0x700, 1, L}}},
	{"rep stosq", 3, {0xf3, 0x48, 0xab}, 1, {{0x800, 8, S}}},
	{"repe cmpsb", 2, {0xf3, 0xa6}, 2, {{0x700, 1, L}, {0x800, 1, L}}},
	{"bts [rbx], r9", 4, {0x4c, 0x0f, 0xab, 0x0b}, 1, {{0x400 + 0xa00 / 8, 8, M}}},
	{"lock cmpxchg [rsi], edx", 4, {0xf0, 0x0f, 0xb1, 0x16}, 1, {{0x700, 4, M}}},
	{"lea rax, [rbx]", 3, {0x48, 0x8d, 0x03}, 0, {{0}}},
	{"prefetcht0 [rbx]", 3, {0x0f, 0x18, 0x0b}, 0, {{0}}},
	{"nop [rax]", 3, {0x0f, 0x1f, 0x00}, 0, {{0}}},
	{"jmp [rbx]", 2, {0xff, 0x23}, 1, {{0x400, 8, L}}},
};

static void visit_code(Fixture *self, const Case *it, uint32_t number)
{
	const LodeSteppedCode code = {
		.place = {LODE_NONE, 0x5000},
		.number = number,
		.decoded = {.length = it->length},
		.bytes = it->bytes,
		.n_bytes = it->length,
	};

	self->step.address = BIAS + code.place.address;
	self->visited.code = &code;
	self->visitor.visit(self->visitor.data, &self->visited);
	self->visited.code = NULL;
}

static void finish(Fixture *self)
{
	g_autoptr(GError) error = NULL;

	g_assert_true(lode_window_accesses_finish(self->accesses, self->memory, NULL, &error));
	g_assert_no_error(error);
}

static const LodeMemorySample *sample_at(const Fixture *self, guint i)
{
	return &LODE_AT(self->memory->accesses, LodeReadAccess, i).sample;
}

static void test_operands(void)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		const Case *it = &cases[i];
		Fixture self;
		set_up(&self);
		for (unsigned k = 0; k < LODE_WINDOW_REGISTERS; k++)
			self.step.registers[k] = register_of(k);
		visit_code(&self, it, 0);
		finish(&self);
		g_test_message("%s", it->name);
		g_assert_cmpuint(self.memory->accesses->len, ==, it->n_operands);
		for (unsigned k = 0; k < it->n_operands; k++) {
			bool is_found = false;
			for (guint j = 0; j < self.memory->accesses->len; j++) {
				const LodeMemorySample *sample = sample_at(&self, j);
				is_found |= sample->address == it->operands[k].address &&
				            sample->size == it->operands[k].size &&
				            sample->access == it->operands[k].access;
				g_assert_cmpfloat(sample->weight, ==, 1);
				g_assert_cmpint(sample->rule, ==, LODE_RULE_WINDOW);
				g_assert_cmpuint(sample->access_pc, ==, BIAS + 0x5000);
			}
			g_assert_true(is_found);
		}
		if (it->n_operands > 0)
			g_assert_cmpuint(lode_window_facts_at(self.facts, 0)->accesses, ==, 1);
		tear_down(&self);
	}
}

/* No round is left, no register is known, it is no frequent one, or goes by a vector register. */
static void test_none(void)
{
	static const Case stos = {"rep stosb", 2, {0xf3, 0xaa}, 0, {{0}}};
	static const Case gather = {"vpgatherdd ymm0, [rax + ymm1*4], ymm2", 6,
		{0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x88}, 0, {{0}}};
	Fixture self;

	set_up(&self);
	self.step.registers[1] = 0;
	visit_code(&self, &stos, 0);
	self.visited.has_registers = false;
	visit_code(&self, &cases[0], 1);
	self.visited.has_registers = true;
	self.visited.is_frequent = false;
	visit_code(&self, &cases[0], 2);
	self.visited.is_frequent = true;
	for (unsigned i = 0; i < 3; i++)
		visit_code(&self, &gather, 3);
	self.window.flags = 0;
	visit_code(&self, &cases[0], 4);
	finish(&self);
	g_assert_cmpuint(self.memory->accesses->len, ==, 1);
	g_assert_cmpint(sample_at(&self, 0)->rule, ==, LODE_RULE_NONE);
	g_assert_cmpint(sample_at(&self, 0)->reason, ==, LODE_REASON_VECTOR_INDEX);
	g_assert_cmpfloat(sample_at(&self, 0)->weight, ==, 3);
	g_assert_cmpuint(lode_window_facts_at(self.facts, 2)->accesses, ==, 1);
	g_assert_cmpuint(lode_window_facts_at(self.facts, 3)->accesses, ==, 0);
	tear_down(&self);
}

/* A walk is no longer one where a window begins, something else ran, or its address is unknown. */
static void test_stretches(void)
{
	Fixture self;

	set_up(&self);
	for (unsigned i = 0; i < 100; i++) {
		self.visited.index = i % 50;
		self.step.is_gap = i == 20;
		self.visited.has_registers = i != 70;
		self.step.registers[3] = 0x10000 + 64 * i;
		visit_code(&self, &cases[0], 5);
	}
	finish(&self);
	const LodeObservedInstruction *facts = lode_window_facts_at(self.facts, 5);
	g_assert_cmpuint(facts->accesses, ==, 99);
	g_assert_cmpint(facts->stride, ==, 64);
	g_assert_cmpuint(facts->first_accesses, ==, 4);
	g_assert_cmpuint(facts->strided, ==, lode_window_compared_accesses(facts));
	g_assert_cmpuint(facts->line_bytes, ==, 0xf);
	tear_down(&self);
}

/* Hits are a walk, of nothing else: not of what was stored before, and not a share of all accesses.
 */
static void test_hits(void)
{
	Fixture self;

	set_up(&self);
	self.visited.is_hit = self.step.is_gap = true;
	for (unsigned i = 0; i < 40; i++) {
		self.visited.index = i % 20;
		self.step.registers[3] = 0x10000 + 64 * i;
		visit_code(&self, &cases[0], 5);
	}
	finish(&self);
	const LodeObservedInstruction *facts = lode_window_facts_at(self.facts, 5);
	g_assert_cmpuint(facts->accesses, ==, 40);
	g_assert_cmpuint(facts->early_accesses, ==, 40);
	g_assert_cmpuint(lode_window_judged_accesses(facts), ==, 0);
	g_assert_cmpint(facts->stride, ==, 64);
	g_assert_cmpuint(facts->strided, ==, 40 - 2);
	g_assert_cmpuint(facts->line_visits, ==, 0);
	g_assert_cmpuint(self.memory->accesses->len, ==, 0);
	tear_down(&self);
}

/* A word that two stores of halves made, and one stored whole; a gap hides what was stored, and at
 * the beginning it is not known, for 32 steps. */
static void test_stores(void)
{
	static const Case store_half = {"mov [rbx], ax", 3, {0x66, 0x89, 0x03}, 0, {{0}}};
	static const Case store = {"mov [rbx], eax", 2, {0x89, 0x03}, 0, {{0}}};
	Fixture self;

	set_up(&self);
	self.step.registers[3] = 0x8000;
	for (unsigned i = 0; i < 50; i++) {
		self.visited.index = 3 * i;
		visit_code(&self, &store, 0);
		self.visited.index++;
		visit_code(&self, i < 14 ? &store_half : &store, 1);
		self.visited.index++;
		self.step.is_gap = i == 30;
		visit_code(&self, &cases[0], 2);
		self.step.is_gap = false;
	}
	const LodeObservedInstruction *facts = lode_window_facts_at(self.facts, 2);
	/* From round 10 to 29, and from 41 on. */
	g_assert_cmpuint(lode_window_judged_accesses(facts), ==, 20 + 9);
	g_assert_cmpuint(facts->loads.part_stored, ==, 4);
	g_assert_cmpuint(facts->loads.stored, ==, 16 + 9);
	g_assert_cmpuint(facts->loads.store_steps, ==, 1);
	tear_down(&self);
}

/* Some of many accesses are kept, all with the same chance, and stand for all. */
static void test_samples(void)
{
	enum { BINS = 8 };
	unsigned bins[BINS] = {0}, n_kept = 0;
	double total = 0;
	Fixture self;

	set_up(&self);
	for (unsigned i = 0; i < 200; i++) {
		for (unsigned k = 0; k < 800; k++) {
			self.step.registers[3] = 0x100000 + k;
			self.window.begin_ns = 1000 + k;
			visit_code(&self, &cases[0], i);
		}
	}
	visit_code(&self, &cases[10], 500);
	finish(&self);
	for (guint i = 0; i < self.memory->accesses->len; i++) {
		const LodeMemorySample *sample = sample_at(&self, i);
		total += sample->weight;
		if (sample->weight == 1)
			continue;
		g_assert_cmpfloat(sample->weight, ==, 800 / 64.);
		g_assert_cmpuint(sample->address - 0x100000, ==, sample->time_ns - 1000);
		bins[(sample->address - 0x100000) * BINS / 800]++;
		n_kept++;
	}
	g_assert_cmpuint(n_kept, ==, 200 * 64);
	g_assert_cmpfloat_with_epsilon(total, 200 * 800 + 2, 1e-6);
	/* 1600 ± 37 */
	for (unsigned i = 0; i < BINS; i++) {
		g_assert_cmpuint(bins[i], >, 1600 - 6 * 37);
		g_assert_cmpuint(bins[i], <, 1600 + 6 * 37);
	}
	tear_down(&self);
}

/* More operands than there is room for 64 samples of each. */
static void test_room(void)
{
	enum { CODES = LODE_WINDOW_SAMPLES / 64 * 3 };
	double total = 0;
	Fixture self;

	set_up(&self);
	for (unsigned k = 0; k < 100; k++)
		for (uint32_t i = 0; i < CODES; i++) {
			self.step.registers[3] = 0x100000 + 16 * k;
			visit_code(&self, &cases[0], i);
		}
	finish(&self);
	g_assert_cmpuint(self.memory->accesses->len, ==, CODES * 16);
	g_assert_cmpuint(self.memory->accesses->len, <=, LODE_WINDOW_SAMPLES);
	for (guint i = 0; i < self.memory->accesses->len; i++)
		total += sample_at(&self, i)->weight;
	g_assert_cmpfloat_with_epsilon(total, CODES * 100., 1e-3);
	tear_down(&self);
}

/* Any bytes, any registers: nothing to say of them, but that it ends. */
static void test_random(void)
{
	Fixture self;

	set_up(&self);
	for (unsigned i = 0; i < random_rounds(20000, 1000000); i++) {
		Case any = {.length = 15};
		for (unsigned k = 0; k < sizeof(any.bytes); k++)
			any.bytes[k] = (uint8_t)random_int();
		for (unsigned k = 0; k < LODE_WINDOW_REGISTERS; k++)
			self.step.registers[k] = (uint64_t)random_int() << 32 |
			                         (uint32_t)random_int();
		self.visited.index = (uint32_t)random_int_range(0, 100);
		visit_code(&self, &any, (uint32_t)random_int_range(0, 1000));
	}
	finish(&self);
	g_assert_cmpuint(self.memory->accesses->len, >, 1000);
	tear_down(&self);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/window_accesses/operands", test_operands);
	g_test_add_func("/window_accesses/none", test_none);
	g_test_add_func("/window_accesses/stretches", test_stretches);
	g_test_add_func("/window_accesses/hits", test_hits);
	g_test_add_func("/window_accesses/stores", test_stores);
	g_test_add_func("/window_accesses/samples", test_samples);
	g_test_add_func("/window_accesses/room", test_room);
	add_random_test("/window_accesses/random", test_random,
		"R02S5f1c6c0b9d2e4a7788aa11bb33cc55dd", NULL);
	return g_test_run();
}
