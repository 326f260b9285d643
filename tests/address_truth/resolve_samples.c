/* SPDX-License-Identifier: MIT */
/*
 * resolve_samples: for how many samples of a recording the library finds where data was accessed.
 *
 *   lode memory record --keep-recording DIRECTORY -- PROGRAM
 *   resolve_samples [OPTION…] DIRECTORY/perf.data
 *
 * With --bounds FILE, of a kernel with KERNEL_BOUNDS=FILE, also in whose memory that is. Exit
 * status: 0; 1 when an address is in another thread's memory, or in nobody's and no program's
 * globals; 2 the recording cannot be read.
 */
#include "image_set.h"
#include "images/instructions/instruction_decoder.h"
#include "recorded_mappings.h"
#include "thread_bounds.h"

#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static struct {
	char *bounds, *name, *format;
	gboolean has_no_header, is_trigger_before;
	int n_shown, stack_bytes;
} given = {.stack_bytes = INT_MAX};

static const GOptionEntry entries[] = {
	{"bounds", 0, 0, G_OPTION_ARG_FILENAME, &given.bounds, "of the threads' arrays", "FILE"},
	{"name", 0, 0, G_OPTION_ARG_STRING, &given.name, "the program's in the table", "NAME"},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "text (default) or csv", "FORMAT"},
	{"show", 0, 0, G_OPTION_ARG_INT, &given.n_shown,
		"the N instructions with the most samples that have no address", "N"},
	{"no-header", 0, 0, G_OPTION_ARG_NONE, &given.has_no_header, NULL, NULL},
	{"stack", 0, 0, G_OPTION_ARG_INT, &given.stack_bytes, "use no more of the dumped stacks",
		"BYTES"},
	{"trigger-before", 0, 0, G_OPTION_ARG_NONE, &given.is_trigger_before,
		"as if a counter had sampled", NULL},
	G_OPTION_ENTRY_NULL,
};

typedef struct {
	uint64_t n_samples, n_resolved, n_unverified, n_addresses;
	uint64_t n_by_rule[LODE_N_RULES], n_by_reason[LODE_N_REASONS], n_by_side[THREAD_N_SIDES];
	uint64_t n_outside; /* of those not resolved: a return or jump to another image */
	uint64_t n_globals, n_libraries; /* of those elsewhere */
} Counts;

typedef struct {
	char *text; /* reason, path, instruction */
	uint64_t n;
} Failure;

typedef struct {
	RecordedMappings mappings;
	ImageSet images;
	GArray *bounds; /* NULL: not asked for */
	Counts counts;
	GHashTable *failures; /* text → Failure */
	RecordedMoment moment;
	ImagePlace place;
	bool has_left_image; /* the rules wanted code of another one */
} Resolver;

static const uint8_t *bytes_for_rules(void *data, uint64_t address, size_t *out_n)
{
	Resolver *self = data;
	const uint8_t *bytes = image_set_bytes(self->place.file, address, out_n);

	self->has_left_image |= bytes == NULL && self->place.file != NULL;
	return bytes;
}

static bool is_valid_for_rules(void *data, uint64_t address, uint32_t size, uint8_t access)
{
	Resolver *self = data;

	return recorded_mappings_are_valid(&self->mappings, &self->moment, address, size, access);
}

/* --- one sample --- */

static bool find_place(Resolver *self, uint64_t pc)
{
	const LodeMappedRange *range = recorded_mappings_find(&self->mappings, &self->moment, pc);

	if (range == NULL)
		return false;
	self->place = image_set_place(&self->images,
		recorded_mappings_file(&self->mappings, range)->path, pc,
		pc - range->start + range->offset);
	return true;
}

static void resolve(
	Resolver *self, const LodePerfRecord *record, uint64_t mask, LodeDataAccess *out)
{
	const LodeDataAccessContext context = {bytes_for_rules, is_valid_for_rules, self};
	LodeUserRegisters registers;
	LodeDataAccessQuestion question = {.registers = &registers};

	*out = (LodeDataAccess){.reason = LODE_REASON_NO_REGISTERS};
	if (record->sample.user_registers == NULL ||
		!lode_user_registers_from_perf(
			&registers, mask, record->sample.user_abi, record->sample.user_registers))
		return;
	self->moment = (RecordedMoment){
		record->pid, record->time_ns, registers.values[LODE_REGISTER_RSP]};
	out->reason = LODE_REASON_NOT_USER_CODE;
	if (record->mode != LODE_PERF_MODE_USER || !find_place(self, record->sample.ip))
		return;
	self->has_left_image = false;
	question.pc = record->sample.ip - self->place.bias;
	question.bias = self->place.bias;
	question.flow = image_set_flow(self->place.file, question.pc);
	question.targets = image_set_targets(self->place.file);
	question.stack = record->sample.stack;
	question.stack_size = MIN(record->sample.stack_size, (size_t)MAX(given.stack_bytes, 0));
	question.is_trigger_before = given.is_trigger_before;
	lode_data_access_find(&context, &question, out);
}

static bool is_global(Resolver *self, uint64_t address)
{
	const LodeMappedRange *range = recorded_mappings_find(
		&self->mappings, &self->moment, address);

	return range != NULL && recorded_mappings_file(&self->mappings, range)->path[0] == '/' &&
	       recorded_mappings_file(&self->mappings, range)->path[1] != '/';
}

/* The C library's own heap and tables, which it uses while a thread begins and ends. */
static bool is_by_library(Resolver *self, const LodeDataAccess *access)
{
	const LodeMappedRange *range = recorded_mappings_find(
		&self->mappings, &self->moment, access->pc + self->place.bias);

	return range != NULL &&
	       strstr(recorded_mappings_file(&self->mappings, range)->path, ".so") != NULL;
}

static void count_elsewhere(
	Resolver *self, const LodeDataAccess *access, const LodeDataOperand *operand)
{
	if (is_global(self, operand->address))
		self->counts.n_globals++;
	else if (is_by_library(self, access))
		self->counts.n_libraries++;
	else
		fprintf(stderr, "%s: 0x%" PRIx64 " at 0x%" PRIx64 " is nobody's\n", given.name,
			operand->address, access->pc);
}

static void count_side(
	Resolver *self, uint32_t tid, const LodeDataAccess *access, const LodeDataOperand *operand)
{
	ThreadSide side = thread_bounds_side(self->bounds, tid, operand->address);

	self->counts.n_by_side[side]++;
	if (side == THREAD_ELSEWHERE)
		count_elsewhere(self, access, operand);
	else if (side == THREAD_FOREIGN)
		fprintf(stderr,
			"%s: thread %" PRIu32 ": 0x%" PRIx64 " at 0x%" PRIx64
			" is another thread's\n",
			given.name, tid, operand->address, access->pc);
}

static uint64_t n_nobodys(const Counts *counts)
{
	return counts->n_by_side[THREAD_ELSEWHERE] - counts->n_globals - counts->n_libraries;
}

static void failure_free(void *data)
{
	g_free(((Failure *)data)->text);
	g_free(data);
}

static void note_failure(Resolver *self, const LodePerfRecord *record, const LodeDataAccess *access)
{
	const LodeMappedRange *range = recorded_mappings_find(
		&self->mappings, &self->moment, record->sample.ip);
	uint64_t address = record->sample.ip - self->place.bias;
	LodeInstructionDecoder decoder;
	char text[128] = "?";
	size_t n = 0;
	const uint8_t *code = image_set_bytes(self->place.file, address, &n);
	Failure *failure;
	char *key;

	lode_instruction_decoder_init(&decoder);
	if (code != NULL)
		lode_instruction_disassemble(&decoder, code, n, address, text, sizeof(text));
	key = g_strdup_printf("%s %s 0x%" PRIx64 " %s", lode_address_reason_to_text(access->reason),
		range != NULL ? recorded_mappings_file(&self->mappings, range)->path : "?", address,
		text);
	failure = g_hash_table_lookup(self->failures, key);
	if (failure == NULL) {
		failure = g_new0(Failure, 1);
		failure->text = key;
		g_hash_table_insert(self->failures, failure->text, failure);
	} else {
		g_free(key);
	}
	failure->n++;
}

static int compare_failures(const void *a, const void *b)
{
	const Failure *x = *(Failure *const *)a, *y = *(Failure *const *)b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return g_strcmp0(x->text, y->text);
}

static void show_failures(const Resolver *self)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	GHashTableIter it;
	void *failure;

	g_hash_table_iter_init(&it, self->failures);
	while (g_hash_table_iter_next(&it, NULL, &failure))
		g_ptr_array_add(all, failure);
	g_ptr_array_sort(all, compare_failures);
	for (guint i = 0; i < all->len && i < (guint)MAX(given.n_shown, 0); i++) {
		const Failure *shown = all->pdata[i];
		printf("  %8" PRIu64 " %s\n", shown->n, shown->text);
	}
}

static void count(Resolver *self, const LodePerfRecord *record, const LodeDataAccess *access)
{
	Counts *counts = &self->counts;

	counts->n_samples++;
	if (access->rule == LODE_RULE_NONE) {
		counts->n_by_reason[access->reason]++;
		counts->n_outside += self->has_left_image;
		if (given.n_shown > 0)
			note_failure(self, record, access);
		return;
	}
	counts->n_resolved++;
	counts->n_by_rule[access->rule]++;
	counts->n_unverified += access->is_unverified;
	counts->n_addresses += access->n_operands;
	if (self->bounds == NULL || !thread_bounds_has(self->bounds, record->tid))
		return;
	for (unsigned i = 0; i < access->n_operands; i++)
		count_side(self, record->tid, access, &access->operands[i]);
}

static bool resolve_all(Resolver *self, LodePerfData *data, GError **error)
{
	LodePerfRecord record;
	LodePerfNext next;
	LodeDataAccess access;
	size_t n_events = 0;

	while ((next = lode_perf_data_next(data, &record, error)) == LODE_PERF_NEXT_RECORD) {
		const LodePerfEvent *events = lode_perf_data_events(data, &n_events);
		if (record.kind != LODE_PERF_SAMPLE)
			continue;
		resolve(self, &record, events[record.event].user_registers, &access);
		count(self, &record, &access);
	}
	return next == LODE_PERF_NEXT_END;
}

/* --- the table --- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

/* Those that waited for memory, as far as is known. */
static uint64_t n_accessing(const Counts *counts)
{
	return counts->n_samples - counts->n_by_reason[LODE_REASON_NOT_MEMORY];
}

static void write_text(const Resolver *self)
{
	const Counts *counts = &self->counts;

	printf("%-28s %8" PRIu64 " samples, of which %6.2f %% access memory, and of these %6.2f %% "
	       "resolved; of all:",
		given.name, counts->n_samples, percent(n_accessing(counts), counts->n_samples),
		percent(counts->n_resolved, n_accessing(counts)));
	for (unsigned i = LODE_RULE_AT_PC; i < LODE_N_RULES; i++)
		printf(" %s %.1f%%", lode_address_rule_to_text(i),
			percent(counts->n_by_rule[i], counts->n_samples));
	printf("; not:");
	for (unsigned i = 1; i < LODE_N_REASONS; i++)
		if (counts->n_by_reason[i] > 0)
			printf(" %s %.2f%%", lode_address_reason_to_text(i),
				percent(counts->n_by_reason[i], counts->n_samples));
	if (counts->n_outside > 0)
		printf(" (the way leads to another image: %.2f%%)",
			percent(counts->n_outside, counts->n_samples));
	if (self->bounds != NULL)
		printf("; of %" PRIu64 " addresses own arrays %" PRIu64 ", own stack %" PRIu64
		       ", globals %" PRIu64 ", the C library's %" PRIu64 ", nobody's %" PRIu64
		       ", another thread's %" PRIu64,
			counts->n_addresses, counts->n_by_side[THREAD_OWN_ARRAY],
			counts->n_by_side[THREAD_OWN_STACK], counts->n_globals, counts->n_libraries,
			n_nobodys(counts), counts->n_by_side[THREAD_FOREIGN]);
	printf("\n");
}

static void write_csv_header(void)
{
	printf("program,samples,resolved,share");
	for (unsigned i = LODE_RULE_AT_PC; i < LODE_N_RULES; i++)
		printf(",%s", lode_address_rule_to_text(i));
	printf(",unverified");
	for (unsigned i = 1; i < LODE_N_REASONS; i++)
		printf(",%s", lode_address_reason_to_text(i));
	printf(",addresses,own array,own stack,globals,library,nobody's,another thread's\n");
}

static void write_csv(const Resolver *self)
{
	const Counts *counts = &self->counts;
	double share = percent(counts->n_resolved, n_accessing(counts)) / 100;

	printf("%s,%" PRIu64 ",%" PRIu64 ",%.4f", given.name, counts->n_samples, counts->n_resolved,
		share);
	for (unsigned i = LODE_RULE_AT_PC; i < LODE_N_RULES; i++)
		printf(",%" PRIu64, counts->n_by_rule[i]);
	printf(",%" PRIu64, counts->n_unverified);
	for (unsigned i = 1; i < LODE_N_REASONS; i++)
		printf(",%" PRIu64, counts->n_by_reason[i]);
	printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
	       "\n",
		counts->n_addresses, counts->n_by_side[THREAD_OWN_ARRAY],
		counts->n_by_side[THREAD_OWN_STACK], counts->n_globals, counts->n_libraries,
		n_nobodys(counts), counts->n_by_side[THREAD_FOREIGN]);
}

static int report(const Resolver *self)
{
	const Counts *counts = &self->counts;

	if (g_strcmp0(given.format, "csv") != 0) {
		write_text(self);
	} else {
		if (!given.has_no_header)
			write_csv_header();
		write_csv(self);
	}
	show_failures(self);
	return counts->n_by_side[THREAD_FOREIGN] > 0 || n_nobodys(counts) > 0;
}

static int fail(const GError *error)
{
	fprintf(stderr, "resolve_samples: %s\n", error != NULL ? error->message : "no recording");
	return 2;
}

static int run(const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfData) data = lode_perf_data_open(path, &error);
	Resolver self = {0};
	int status;

	if (data == NULL)
		return fail(error);
	if (given.bounds != NULL &&
		(self.bounds = thread_bounds_read(given.bounds, &error)) == NULL)
		return fail(error);
	image_set_init(&self.images);
	self.failures = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, failure_free);
	status = recorded_mappings_read(&self.mappings, data, &error) &&
	                         resolve_all(&self, data, &error)
	                 ? report(&self)
	                 : fail(error);
	recorded_mappings_clear(&self.mappings);
	image_set_clear(&self.images);
	g_hash_table_unref(self.failures);
	g_clear_pointer(&self.bounds, g_array_unref);
	return status;
}

int main(int argc, char **argv)
{
	g_autoptr(GOptionContext) context = g_option_context_new("RECORDING");
	g_autoptr(GError) error = NULL;

	setlocale(LC_ALL, "C.UTF-8");
	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, &argc, &argv, &error) || argc != 2)
		return fail(error);
	if (given.name == NULL)
		given.name = argv[1];
	return run(argv[1]);
}
