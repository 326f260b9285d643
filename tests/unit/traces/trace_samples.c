/* SPDX-License-Identifier: MIT */
#include "trace_samples.h"
#include "seeds.h"

typedef struct {
	GRand *rand;
	GArray *out;
	uint16_t thread;
} Maker;

static void add(Maker *self, uint64_t address, uint32_t size, LodeReferenceKind kind)
{
	LodeReference reference = {address, size, self->thread, (uint8_t)kind};

	g_array_append_val(self->out, reference);
}

static uint64_t random_word(Maker *self)
{
	return (uint64_t)g_rand_int(self->rand) << 32 | g_rand_int(self->rand);
}

/* A run of code with loads and stores whose addresses move on. */
static void add_code(Maker *self, uint64_t address, unsigned n_instructions, uint64_t data)
{
	for (unsigned i = 0; i < n_instructions; i++) {
		uint32_t size = 1 + (uint32_t)(address * 7 + i) % 6;

		add(self, address, size, LODE_REFERENCE_FETCH);
		if (i % 3 == 1)
			add(self, data + 16 * i, 8, LODE_REFERENCE_LOAD);
		if (i % 5 == 2)
			add(self, UINT64_C(0x7ffe00001000) - 8 * i, 4, LODE_REFERENCE_STORE);
		address += size;
	}
}

static void program_step(Maker *self, unsigned i)
{
	unsigned function = i % 7 == 0 ? (unsigned)g_rand_int_range(self->rand, 0, 40) : i % 3;

	add_code(self, UINT64_C(0x400000) + function * 256, 3 + function % 20,
		UINT64_C(0x55550000) + 8 * (uint64_t)i);
}

static void random_step(Maker *self, unsigned i)
{
	(void)i;
	add(self, random_word(self) >> 16, 8,
		(LodeReferenceKind)g_rand_int_range(self->rand, 0, LODE_N_REFERENCE_KINDS));
}

/* Upper bits and sizes of all sorts. */
static void wild_step(Maker *self, unsigned i)
{
	(void)i;
	add(self, random_word(self), g_rand_int(self->rand) >> g_rand_int_range(self->rand, 0, 32),
		(LodeReferenceKind)g_rand_int_range(self->rand, 0, LODE_N_REFERENCE_KINDS));
}

static void data_only_step(Maker *self, unsigned i)
{
	add(self, UINT64_C(0x10000) + (uint64_t)i % 4099 * 64 * 37 % 65536, 4,
		i % 4 == 0 ? LODE_REFERENCE_STORE : LODE_REFERENCE_LOAD);
}

static void constant_step(Maker *self, unsigned i)
{
	(void)i;
	add(self, 0x1234, 8, LODE_REFERENCE_LOAD);
}

static void threads_step(Maker *self, unsigned i)
{
	if (g_rand_int_range(self->rand, 0, 3) == 0)
		self->thread = (uint16_t)(g_rand_int_range(self->rand, 0, 5) * 1000);
	program_step(self, i);
}

static const struct {
	const char *name;
	void (*step)(Maker *self, unsigned i);
} shapes[] = {
	{"program", program_step},
	{"threads", threads_step},
	{"random", random_step},
	{"wild", wild_step},
	{"data_only", data_only_step},
	{"constant", constant_step},
};

const char *const lode_trace_sample_names[] = {
	"program", "threads", "random", "wild", "data_only", "constant", NULL};

GArray *lode_trace_sample(const char *name, unsigned n, unsigned seed)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(seed));
	Maker self = {.rand = rand, .out = g_array_new(FALSE, FALSE, sizeof(LodeReference))};
	size_t shape = 0;

	while (g_strcmp0(shapes[shape].name, name) != 0)
		shape++;
	for (unsigned i = 0; self.out->len < n; i++)
		shapes[shape].step(&self, i);
	return self.out;
}
