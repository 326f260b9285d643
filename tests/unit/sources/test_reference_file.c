/* SPDX-License-Identifier: MIT */
/* Traces in the forms of other tools: what is read, what is written, and both in turn. */
#include "base/error.h"
#include "seeds.h"
#include "sources/references/reference_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FETCH LODE_REFERENCE_FETCH
#define LOAD LODE_REFERENCE_LOAD
#define STORE LODE_REFERENCE_STORE
#define MODIFY LODE_REFERENCE_MODIFY

enum { BATCH = 5000 };

static GArray *references_new(void)
{
	return g_array_new(FALSE, TRUE, sizeof(LodeReference));
}

/* A descriptor with these bytes, at its start. */
static int descriptor_of(const void *data, size_t size)
{
	int descriptor = memfd_create("trace", MFD_CLOEXEC);

	g_assert_cmpint(descriptor, >=, 0);
	g_assert_cmpint(write(descriptor, data, size), ==, (ssize_t)size);
	lseek(descriptor, 0, SEEK_SET);
	return descriptor;
}

/* What came before an error stands in the result. */
static GArray *read_all(LodeReferenceReader *reader, size_t batch, GError **error)
{
	GArray *all = references_new();
	g_autofree LodeReference *some = g_new(LodeReference, batch);
	ptrdiff_t n;

	while ((n = lode_reference_reader_next(reader, some, batch, error)) > 0)
		g_array_append_vals(all, some, (guint)n);
	return all;
}

static GArray *read_bytes(const void *data, size_t size, int form, GError **error)
{
	int descriptor = descriptor_of(data, size);
	g_autoptr(LodeReferenceReader)
		reader = lode_reference_reader_open(descriptor, "x", form, error);
	GArray *all = reader != NULL ? read_all(reader, BATCH, error) : references_new();

	close(descriptor);
	return all;
}

static GArray *read_text(const char *text, int form)
{
	GError *error = NULL;
	GArray *all = read_bytes(text, strlen(text), form, &error);

	g_assert_no_error(error);
	return all;
}

static char *write_all(const GArray *references, LodeReferenceForm form, size_t *out_size)
{
	char *text = NULL;
	GError *error = NULL;
	FILE *out = open_memstream(&text, out_size);
	g_autoptr(LodeReferenceWriter) writer = lode_reference_writer_new(form, out);

	lode_reference_writer_add(
		writer, (const LodeReference *)references->data, references->len, &error);
	g_assert_no_error(error);
	lode_reference_writer_finish(writer, &error);
	g_assert_no_error(error);
	fclose(out);
	return text;
}

static void assert_equal(const GArray *a, const GArray *b)
{
	g_assert_cmpuint(a->len, ==, b->len);
	for (guint i = 0; i < a->len; i++) {
		const LodeReference *x = &g_array_index(a, LodeReference, i);
		const LodeReference *y = &g_array_index(b, LodeReference, i);

		g_assert_cmphex(x->address, ==, y->address);
		g_assert_cmpuint(x->size, ==, y->size);
		g_assert_cmpuint(x->kind, ==, y->kind);
		g_assert_cmpuint(x->thread, ==, y->thread);
	}
}

static void assert_references(const GArray *all, const LodeReference *expected, guint n)
{
	g_autoptr(GArray) array = references_new();

	g_array_append_vals(array, expected, n);
	assert_equal(all, array);
}

/* Writing what was read gives these bytes. */
static void assert_written(const GArray *all, LodeReferenceForm form, const char *expected)
{
	size_t size;
	g_autofree char *text = write_all(all, form, &size);

	g_assert_cmpstr(text, ==, expected);
}

static const char lackey_canonical[] = " L 0012463a,2\n"
				       "I  0401ab70,3\n"
				       " S 1fff000718,8\n"
				       "==lode== thread 3\n"
				       "I  0401ab73,5\n"
				       " M ffffffffffffffff,4294967295\n"
				       "==lode== thread 0\n"
				       " L 00000000,0\n";

static void test_lackey(void)
{
	static const LodeReference expected[] = {{0x12463a, 2, 0, LOAD}, {0x401ab70, 3, 0, FETCH},
		{0x1fff000718, 8, 0, STORE}, {0x401ab73, 5, 3, FETCH},
		{UINT64_MAX, UINT32_MAX, 3, MODIFY}, {0, 0, 0, LOAD}};
	g_autoptr(GArray) all = read_text(lackey_canonical, -1);

	assert_references(all, expected, G_N_ELEMENTS(expected));
	assert_written(all, LODE_REFERENCE_FORM_LACKEY, lackey_canonical);
}

/* Long enough that most of it is far from the end of the input. */
static void test_lackey_loose(void)
{
	static const char text[] = "==7== Using Valgrind-3.19.0 and LibVEX; rerun\r\n"
				   "==7== Command: a b\r\n--7-- note\n**7** note\n\n"
				   "SB 0401ab70\nI  0401AB70,03\r\n L 1fFf000718,16\r\n S 5,100\n"
				   " M 0000000000000007,1\n"
				   "==7==   guest instrs:  128,558\n"
				   "==7==   guest instrs : SB entered  = 48 : 10\n"
				   "I  00000008,1";
	static const LodeReference expected[] = {{0x401ab70, 3, 0, FETCH},
		{0x1fff000718, 16, 0, LOAD}, {5, 100, 0, STORE}, {7, 1, 0, MODIFY},
		{8, 1, 0, FETCH}};
	int descriptor = descriptor_of(text, strlen(text));
	g_autoptr(LodeReferenceReader)
		reader = lode_reference_reader_open(descriptor, "x", -1, NULL);
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	g_autoptr(GArray) all = read_all(reader, 2, NULL);

	assert_references(all, expected, G_N_ELEMENTS(expected));
	lode_reference_reader_describe(reader, description);
	g_assert_cmpstr(description->tool, ==, "lackey 3.19.0");
	g_assert_cmpstr(description->command, ==, "a b");
	g_assert_cmpuint(description->totals->len, ==, 1);
	g_assert_cmpuint(g_array_index(description->totals, LodeTraceTotal, 0).value, ==, 128558);
	g_assert_null(lode_reference_reader_losses(reader));
	close(descriptor);
}

static void test_din(void)
{
	static const char text[] = "2 401ab70\n0 1fff000718\n2 0x401ab73 remark\n1 8\r\n"
				   " 2\t401ab7b\n3 5\n4 0\n\n2 401ab73\n2 9000\n0 1\n1 2";
	/* The second fetch at 401ab73 leads elsewhere, so that its size is the one seen before. */
	static const LodeReference expected[] = {{0x401ab70, 3, 0, FETCH},
		{0x1fff000718, 0, 0, LOAD}, {0x401ab73, 8, 0, FETCH}, {8, 0, 0, STORE},
		{0x401ab7b, 0, 0, FETCH}, {0x401ab73, 8, 0, FETCH}, {0x9000, 0, 0, FETCH},
		{1, 0, 0, LOAD}, {2, 0, 0, STORE}};
	int descriptor = descriptor_of(text, strlen(text));
	g_autoptr(LodeReferenceReader)
		reader = lode_reference_reader_open(descriptor, "x", -1, NULL);
	g_autoptr(GArray) all = read_all(reader, 3, NULL);
	g_autofree char *losses = lode_reference_reader_losses(reader);

	g_assert_cmpint(lode_reference_reader_form(reader), ==, LODE_REFERENCE_FORM_DIN);
	assert_references(all, expected, G_N_ELEMENTS(expected));
	g_assert_cmpstr(losses, ==,
		"lines with other labels than read, write and fetch (2), what follows on lines (1; "
		"sizes are read with --form xdin)");
	assert_written(all, LODE_REFERENCE_FORM_DIN,
		"2 401ab70\n0 1fff000718\n2 401ab73\n1 8\n2 401ab7b\n2 401ab73\n2 9000\n0 1\n1 "
		"2\n");
	close(descriptor);
}

/* A jump over the next instruction does not pass for a longer one for ever. */
static void test_din_short_jump(void)
{
	g_autoptr(GArray) all = read_text("2 100\n2 10a\n2 100\n2 102\n2 100\n2 10a\n", -1);
	static const uint32_t sizes[] = {10, 0, 2, 0, 2, 0};

	g_assert_cmpuint(all->len, ==, G_N_ELEMENTS(sizes));
	for (guint i = 0; i < all->len; i++)
		g_assert_cmpuint(g_array_index(all, LodeReference, i).size, ==, sizes[i]);
}

/* Data references without end behind a fetch are not held back for ever. */
static void test_din_many_loads(void)
{
	g_autoptr(GString) text = g_string_new("2 100\n2 103\n2 100\n");
	g_autoptr(GArray) all = NULL;

	for (unsigned i = 0; i < 20000; i++)
		g_string_append_printf(text, "0 %x\n", i);
	all = read_text(text->str, -1);
	g_assert_cmpuint(all->len, ==, 20003);
	g_assert_cmpuint(g_array_index(all, LodeReference, 2).size, ==, 3);
	assert_written(all, LODE_REFERENCE_FORM_DIN, text->str);
}

static void test_xdin(void)
{
	static const char text[] = "i 401ab70 3\nr 1fff000718 10 remark\nw 0x5 0X8\n"
				   "m 1 1\nc 1 1\nv 1 1\n0 6 2\nR ffffffffffffffff ffffffff\n";
	static const LodeReference expected[] = {{0x401ab70, 3, 0, FETCH},
		{0x1fff000718, 16, 0, LOAD}, {5, 8, 0, STORE}, {6, 2, 0, LOAD},
		{UINT64_MAX, UINT32_MAX, 0, LOAD}};
	g_autoptr(GArray) all = read_text(text, -1);

	assert_references(all, expected, G_N_ELEMENTS(expected));
	assert_written(all, LODE_REFERENCE_FORM_XDIN,
		"i 401ab70 3\nr 1fff000718 10\nw 5 8\nr 6 2\nr ffffffffffffffff ffffffff\n");
}

static void test_csv(void)
{
	static const char text[] =
		"kind,\"address\",size,thread\r\nfetch,0x401ab70,3,0\r\n"
		"\"store\",137422178072,\"0x8\",65534\nmodify,1,1,2\n\nload,0,0,0";
	static const LodeReference expected[] = {{0x401ab70, 3, 0, FETCH},
		{0x1fff000718, 8, 65534, STORE}, {1, 1, 2, MODIFY}, {0, 0, 0, LOAD}};
	g_autoptr(GArray) all = read_text(text, -1);
	g_autoptr(GArray) without = read_text("kind,address,size\nload,0,0\n", -1);
	g_autoptr(GArray) none = references_new();

	assert_references(all, expected, G_N_ELEMENTS(expected));
	assert_references(without, &expected[3], 1);
	assert_written(all, LODE_REFERENCE_FORM_CSV,
		"kind,address,size,thread\nfetch,0x401ab70,3,0\nstore,0x1fff000718,8,65534\n"
		"modify,0x1,1,2\nload,0x0,0,0\n");
	assert_written(none, LODE_REFERENCE_FORM_CSV, "kind,address,size,thread\n");
}

/* A record as the struct of ChampSim lies in memory. */
typedef struct {
	uint64_t ip;
	uint8_t is_branch, branch_taken, destination_registers[2], source_registers[4];
	uint64_t destination_memory[2], source_memory[4];
} ChampSimRecord;

static void test_champsim(void)
{
	static const ChampSimRecord records[] = {
		{.destination_memory = {9}}, /* no fetch */
		{.ip = 0x401ab70, .source_memory = {1, 0, 2, 0}},
		{.ip = 0x401ab73,
			.is_branch = 1,
			.destination_memory = {0, 1},
			.source_memory = {1}},
		{.ip = 0x500000, .branch_taken = 1, .source_registers = {26}},
	};
	static const LodeReference expected[] = {{9, 0, 0, STORE}, {0x401ab70, 3, 0, FETCH},
		{1, 0, 0, LOAD}, {2, 0, 0, LOAD}, {0x401ab73, 0, 0, FETCH}, {1, 0, 0, LOAD},
		{1, 0, 0, STORE}, {0x500000, 0, 0, FETCH}};
	GError *error = NULL;
	/* Two of them leave out places for accesses, as no tracer does. */
	g_autoptr(GArray)
		all = read_bytes(records, sizeof(records), LODE_REFERENCE_FORM_CHAMPSIM, &error);
	size_t size;
	g_autofree char *written = write_all(all, LODE_REFERENCE_FORM_CHAMPSIM, &size);
	g_autoptr(GArray) again = read_bytes(written, size, -1, &error);

	G_STATIC_ASSERT(sizeof(ChampSimRecord) == 64);
	g_assert_no_error(error);
	assert_references(all, expected, G_N_ELEMENTS(expected));
	g_assert_cmpuint(size, ==, sizeof(records));
	assert_equal(all, again);
}

/* A loop's branch at 0x104, back to 0x100; the rest is not known. */
static bool find_instruction(
	uint64_t address, uint64_t n_before, LodeReferenceInstruction *out, void *user_data)
{
	GArray *asked = user_data;

	g_array_append_val(asked, n_before);
	*out = (LodeReferenceInstruction){.is_branch = true,
		.is_conditional = address == 0x104,
		.target = 0x100,
		.written = {26},
		.read = {26, 25}};
	return address >= 0x104;
}

static void test_champsim_branches(void)
{
	static const LodeReference some[] = {{0x100, 4, 0, FETCH}, {8, 8, 0, LOAD},
		{0x104, 2, 0, FETCH}, {0x100, 4, 0, FETCH}, {0x104, 2, 0, FETCH},
		{0x106, 2, 0, FETCH}, {0x104, 2, 0, FETCH}};
	static const uint8_t branches[][2] = {{0, 0}, {1, 1}, {0, 0}, {1, 0}, {1, 1}, {1, 0}};
	static const uint64_t before[] = {0, 2, 3, 4, 5, 6};
	g_autoptr(GArray) asked = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);
	g_autoptr(LodeReferenceWriter)
		writer = lode_reference_writer_new(LODE_REFERENCE_FORM_CHAMPSIM, out);

	lode_reference_writer_set_instructions(writer, find_instruction, asked);
	g_assert_true(lode_reference_writer_add(writer, some, G_N_ELEMENTS(some), NULL));
	g_assert_true(lode_reference_writer_finish(writer, NULL));
	fclose(out);
	const ChampSimRecord *records = (const ChampSimRecord *)(void *)bytes;
	g_assert_cmpuint(size, ==, G_N_ELEMENTS(branches) * sizeof(ChampSimRecord));
	for (size_t i = 0; i < G_N_ELEMENTS(branches); i++) {
		g_assert_cmpuint(records[i].is_branch, ==, branches[i][0]);
		g_assert_cmpuint(records[i].branch_taken, ==, branches[i][1]);
		g_assert_cmpuint(records[i].destination_registers[0], ==, branches[i][0] ? 26 : 0);
		g_assert_cmpuint(records[i].source_registers[1], ==, branches[i][0] ? 25 : 0);
		g_assert_cmpuint(g_array_index(asked, uint64_t, i), ==, before[i]);
	}
	g_autofree char *losses = lode_reference_writer_losses(writer);
	g_assert_nonnull(strstr(losses, "no file of their code is known (2)"));
	free(bytes);
}

/* Its first two bytes are those of gzip. */
static void test_champsim_magic(void)
{
	static const ChampSimRecord record = {.ip = 0x408b1f};
	GError *error = NULL;
	g_autoptr(GArray) all = read_bytes(&record, sizeof(record), -1, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(all->len, ==, 1);
	g_assert_cmphex(g_array_index(all, LodeReference, 0).address, ==, 0x408b1f);
}

enum { N_TRACED = 5000 };

/* A loop that loads and stores, and at its end an instruction of the kernel. */
static ChampSimRecord *traced_records(void)
{
	ChampSimRecord *records = g_new0(ChampSimRecord, N_TRACED);

	for (size_t i = 0; i < N_TRACED; i++) {
		records[i].ip = 0x400000 + 4 * (i % 50);
		if (i % 50 == 49)
			records[i].is_branch = records[i].branch_taken = 1;
		records[i].source_registers[0] = (uint8_t)(i % 17);
		if (i % 3 == 0)
			records[i].source_memory[0] = 0x7fff0000 + 8 * i;
		if (i % 9 == 0)
			records[i].source_memory[1] = UINT64_C(0xffff888000000000) + i;
		if (i % 7 == 0)
			records[i].destination_memory[0] = 0x900000 + 64 * i;
	}
	records[N_TRACED - 1].ip = UINT64_C(0xffffffff81000000);
	return records;
}

static void assert_is_champsim(const void *bytes, size_t size, bool is_form)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) all = read_bytes(bytes, size, -1, &error);

	if (is_form) {
		g_assert_no_error(error);
		g_assert_cmpuint(all->len, >=, size / sizeof(ChampSimRecord));
		return;
	}
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "of no known form of address traces"));
	g_assert_cmpuint(all->len, ==, 0);
}

/* The form of CloudSuite's traces, packed, or with the gaps that its struct has in memory. */
static GByteArray *cloudsuite_records(bool has_gaps, uint8_t address_space)
{
	GByteArray *bytes = g_byte_array_new();
	static const uint8_t zeros[8];

	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t ip = 0x400000 + 4 * (i % 50);
		const uint64_t accesses[8] = {
			i % 7 == 0 ? 0x7000 + 8 * i : 0, 0, 0, 0, i % 3 == 0 ? 0x9000 + 64 * i : 0};
		const uint8_t end[] = {address_space, 0};
		g_byte_array_append(bytes, (const uint8_t *)&ip, sizeof(ip));
		g_byte_array_append(bytes, zeros, 8); /* flags, registers */
		g_byte_array_append(bytes, zeros, has_gaps ? 8 : 2);
		g_byte_array_append(bytes, (const uint8_t *)accesses, sizeof(accesses));
		g_byte_array_append(bytes, end, sizeof(end));
		g_byte_array_append(bytes, zeros, has_gaps ? 6 : 4);
	}
	return bytes;
}

/* By many records, as a single one may look like ChampSim's by chance. */
static void test_champsim_detection(void)
{
	g_autofree ChampSimRecord *records = traced_records();
	const size_t sizes[] = {1, 2, 3, 100, 1024, N_TRACED};

	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
		assert_is_champsim(records, sizes[i] * sizeof(ChampSimRecord), true);
	/* The first ones do not decide alone, in either way. */
	records[0].source_memory[0] = 0;
	records[0].source_memory[3] = 8;
	assert_is_champsim(records, N_TRACED * sizeof(ChampSimRecord), true);
	records[1000].is_branch = 2;
	assert_is_champsim(records, N_TRACED * sizeof(ChampSimRecord), false);
	for (int i = 0; i < 4; i++) {
		g_autoptr(GByteArray) other = cloudsuite_records((i & 1) != 0, i / 2 == 0);
		assert_is_champsim(other->data, other->len, false);
	}
	g_autofree uint8_t *zeros = g_malloc0(1 << 17);
	assert_is_champsim(zeros, 1 << 17, false);
	g_autofree double *numbers = g_new0(double, 4096);
	for (int i = 0; i < 4096; i++)
		numbers[i] = i;
	assert_is_champsim(numbers, 4096 * sizeof(double), false);
	GRand *rand = g_rand_new_with_seed(1);
	for (int i = 0; i < 1 << 17; i++)
		zeros[i] = (uint8_t)g_rand_int(rand);
	g_rand_free(rand);
	for (size_t size = 64; size <= 1 << 17; size *= 2)
		assert_is_champsim(zeros, size, false);
}

/* After the records that were looked at, and where the form was given. */
static void test_champsim_damage(void)
{
	g_autofree ChampSimRecord *records = traced_records();

	records[3000].branch_taken = 3;
	for (int form = -1; form <= LODE_REFERENCE_FORM_CHAMPSIM;
		form += 1 + LODE_REFERENCE_FORM_CHAMPSIM) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GArray)
			all = read_bytes(records, N_TRACED * sizeof(ChampSimRecord), form, &error);
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_true(g_str_has_prefix(error->message,
			"x: record at offset 192000: not one of ChampSim: its flags of branches "
			"are 0 and 3"));
		g_assert_cmpuint(all->len, >=, 3000);
	}
}

static void test_champsim_spill(void)
{
	static const LodeReference many[] = {{0x100, 4, 0, FETCH}, {1, 8, 0, LOAD},
		{2, 8, 0, MODIFY}, {3, 8, 0, LOAD}, {4, 8, 0, LOAD}, {5, 8, 0, LOAD},
		{6, 8, 0, STORE}, {7, 8, 0, STORE}, {8, 8, 0, STORE}, {0x104, 4, 0, FETCH}};
	static const LodeReference halves[] = {{0x100, 4, 0, FETCH}, {1, 0, 0, LOAD},
		{2, 0, 0, LOAD}, {2, 0, 0, STORE}, {3, 0, 0, LOAD}, {4, 0, 0, LOAD},
		{5, 0, 0, LOAD}, {6, 0, 0, STORE}, {7, 0, 0, STORE}, {8, 0, 0, STORE},
		{0x104, 0, 0, FETCH}};
	GError *error = NULL;
	g_autoptr(GArray) all = references_new();
	size_t size;

	g_array_append_vals(all, many, G_N_ELEMENTS(many));
	g_autofree char *written = write_all(all, LODE_REFERENCE_FORM_CHAMPSIM, &size);
	g_autoptr(GArray) again = read_bytes(written, size, -1, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(size, ==, 4 * sizeof(ChampSimRecord));
	assert_references(again, halves, G_N_ELEMENTS(halves));
}

static void test_champsim_no_place(void)
{
	static const LodeReference zero = {0, 8, 0, LOAD};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeReferenceWriter)
		writer = lode_reference_writer_new(LODE_REFERENCE_FORM_CHAMPSIM, out);

	g_assert_false(lode_reference_writer_add(writer, &zero, 1, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	fclose(out);
	free(text);
}

static void test_writer_losses(void)
{
	static const LodeReference some[] = {{0x100, 4, 0, FETCH}, {1, 8, 1, MODIFY}};
	g_autoptr(LodeReferenceWriter)
		din = lode_reference_writer_new(LODE_REFERENCE_FORM_DIN, stdout);
	g_autoptr(LodeReferenceWriter)
		csv = lode_reference_writer_new(LODE_REFERENCE_FORM_CSV, stdout);

	g_assert_true(lode_reference_writer_add(din, some, G_N_ELEMENTS(some), NULL));
	g_assert_true(lode_reference_writer_add(csv, some, G_N_ELEMENTS(some), NULL));
	g_autofree char *losses = lode_reference_writer_losses(din);
	g_assert_cmpstr(losses, ==,
		"sizes are left out, threads are left out, modifies became a load and a store each "
		"(1)");
	g_assert_null(lode_reference_writer_losses(csv));
}

static void test_errors(void)
{
	static const struct {
		int form;
		const char *text, *message;
		guint n_before;
	} cases[] = {
		{-1, "hello\n", "x: its first bytes", 0},
		{LODE_REFERENCE_FORM_LACKEY, "I  00000001,1\n\nhello\n", "x: line 3: neither", 1},
		{LODE_REFERENCE_FORM_LACKEY, "I  00000001,1\nI  00000001\n", "x: line 2: no addr",
			1},
		{LODE_REFERENCE_FORM_LACKEY, "I  00000001,\n", "x: line 1: no size", 0},
		{LODE_REFERENCE_FORM_LACKEY, "I  00000001,4294967296\n", "x: line 1: no size", 0},
		{LODE_REFERENCE_FORM_LACKEY, "I  00000001,1 \n", "x: line 1: no size", 0},
		{LODE_REFERENCE_FORM_LACKEY, "I  10000000000000001,1\n", "x: line 1: no addr", 0},
		{LODE_REFERENCE_FORM_LACKEY, "==lode== thread 65535\n", "x: line 1: a number", 0},
		{LODE_REFERENCE_FORM_LACKEY, " I 00000001,1\n", "x: line 1: neither", 0},
		{LODE_REFERENCE_FORM_DIN, "2 1\n7 1\n", "x: line 2: unknown label", 1},
		{LODE_REFERENCE_FORM_DIN, "2\n", "x: line 1: no address", 0},
		{LODE_REFERENCE_FORM_DIN, "2 1g\n", "x: line 1: no address", 0},
		{LODE_REFERENCE_FORM_XDIN, "i 1\n", "x: line 1: no size", 0},
		{LODE_REFERENCE_FORM_CSV, "kind,size\n", "x: line 1: the header", 0},
		{LODE_REFERENCE_FORM_CSV, "kind,address,size\nload,1\n", "x: line 2: three", 0},
		{LODE_REFERENCE_FORM_CSV, "kind,address,size\nhold,1,1\n", "x: line 2: the kind",
			0},
		{LODE_REFERENCE_FORM_CSV, "kind,address,size\nload,f,1\n", "x: line 2: the addr",
			0},
		{LODE_REFERENCE_FORM_CSV, "kind,address,size\nload,1,-1\n", "x: line 2: the size",
			0},
		{LODE_REFERENCE_FORM_CSV, "kind,address,size,thread\nload,1,1,65535\n",
			"x: line 2: the thread", 0},
		{LODE_REFERENCE_FORM_CHAMPSIM, "short", "x: record at offset 0: cut short", 0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GArray) all = read_bytes(
			cases[i].text, strlen(cases[i].text), cases[i].form, &error);

		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		if (!g_str_has_prefix(error->message, cases[i].message))
			g_error("'%s' is no '%s'", error->message, cases[i].message);
		g_assert_cmpuint(all->len, ==, cases[i].n_before);
	}
}

/* A line as long as the buffer, and one that is longer, of what is passed over. */
static void test_long_line(void)
{
	for (size_t length = (1 << 20) - 1; length <= 1 << 20; length++) {
		g_autoptr(GString) text = g_string_new("I  00000001,1\n");
		g_autoptr(GError) error = NULL;

		for (size_t i = 0; i < length; i++)
			g_string_append_c(text, '=');
		g_string_append(text, "\nI  00000002,1\n");
		g_autoptr(GArray) all = read_bytes(text->str, text->len, -1, &error);
		g_assert_cmpuint(all->len, ==, length < 1 << 20 ? 2 : 1);
		if (length == 1 << 20)
			g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
		else
			g_assert_no_error(error);
	}
}

static void test_empty(void)
{
	for (int form = -1; form < LODE_N_REFERENCE_FORMS; form++) {
		g_autoptr(GArray) all = read_text("", form);

		g_assert_cmpuint(all->len, ==, 0);
	}
}

static GArray *random_references(unsigned seed, guint n)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(seed));
	GArray *all = references_new();

	for (guint i = 0; i < n; i++) {
		uint64_t address = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
		LodeReference reference = {
			.address = address >> g_rand_int_range(rand, 0, 64),
			.size = g_rand_int(rand) >> g_rand_int_range(rand, 0, 32),
			.thread = (uint16_t)(g_rand_int_range(rand, 0, 20) == 0
						     ? g_rand_int_range(rand, 0, 65535)
						     : 1),
			.kind = (uint8_t)g_rand_int_range(rand, 0, LODE_N_REFERENCE_KINDS),
		};
		g_array_append_val(all, reference);
	}
	return all;
}

static void test_random(void)
{
	static const LodeReferenceForm forms[] = {
		LODE_REFERENCE_FORM_LACKEY, LODE_REFERENCE_FORM_CSV};

	for (unsigned seed = 0; seed < 20; seed++) {
		g_autoptr(GArray) all = random_references(seed, 1 + seed * 5000);
		for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
			GError *error = NULL;
			size_t size;
			g_autofree char *text = write_all(all, forms[i], &size);
			g_autoptr(GArray) again = read_bytes(text, size, -1, &error);
			g_assert_no_error(error);
			assert_equal(all, again);
		}
	}
}

/* What the other forms can hold comes back: text written twice is the same. */
static void test_random_without_threads(void)
{
	static const LodeReferenceForm forms[] = {
		LODE_REFERENCE_FORM_DIN, LODE_REFERENCE_FORM_XDIN, LODE_REFERENCE_FORM_CHAMPSIM};

	for (unsigned seed = 0; seed < 20; seed++) {
		g_autoptr(GArray) all = random_references(seed, 1 + seed * 2000);
		for (guint i = 0; i < all->len; i++) {
			/* As a processor has them, by which champsim is told. */
			LodeReference *reference = &g_array_index(all, LodeReference, i);
			reference->address = (uint64_t)((int64_t)(reference->address << 7) >> 7) |
			                     1;
			reference->thread = 0;
		}
		for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
			GError *error = NULL;
			size_t size, size_again;
			g_autofree char *text = write_all(all, forms[i], &size);
			g_autoptr(GArray) read = read_bytes(text, size, -1, &error);
			g_assert_no_error(error);
			g_autofree char *again = write_all(read, forms[i], &size_again);
			g_assert_cmpuint(size, ==, size_again);
			g_assert_true(memcmp(text, again, size) == 0);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/reference_file/lackey", test_lackey);
	g_test_add_func("/reference_file/lackey_loose", test_lackey_loose);
	g_test_add_func("/reference_file/din", test_din);
	g_test_add_func("/reference_file/din_short_jump", test_din_short_jump);
	g_test_add_func("/reference_file/din_many_loads", test_din_many_loads);
	g_test_add_func("/reference_file/xdin", test_xdin);
	g_test_add_func("/reference_file/csv", test_csv);
	g_test_add_func("/reference_file/champsim", test_champsim);
	g_test_add_func("/reference_file/champsim_branches", test_champsim_branches);
	g_test_add_func("/reference_file/champsim_magic", test_champsim_magic);
	g_test_add_func("/reference_file/champsim_detection", test_champsim_detection);
	g_test_add_func("/reference_file/champsim_damage", test_champsim_damage);
	g_test_add_func("/reference_file/champsim_spill", test_champsim_spill);
	g_test_add_func("/reference_file/champsim_no_place", test_champsim_no_place);
	g_test_add_func("/reference_file/writer_losses", test_writer_losses);
	g_test_add_func("/reference_file/errors", test_errors);
	g_test_add_func("/reference_file/long_line", test_long_line);
	g_test_add_func("/reference_file/empty", test_empty);
	g_test_add_func("/reference_file/random", test_random);
	g_test_add_func("/reference_file/random_without_threads", test_random_without_threads);
	return g_test_run();
}
