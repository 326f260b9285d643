/* SPDX-License-Identifier: MIT */
/*
 * Logs of allocations: made ones with every kind of record, cut short and broken; random ones,
 * against a search through all that was ever allocated.
 */
#include "base/error.h"
#include "seeds.h"
#include "sources/allocations/allocation_log.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, CHUNK = 0x4b4e4843 };
enum { ALLOCATION = 1, FREE, UNMAP, STACK, THREAD, THREAD_END };

static void put_u32(GByteArray *bytes, uint32_t value)
{
	value = GUINT32_TO_LE(value);
	g_byte_array_append(bytes, (const uint8_t *)&value, sizeof(value));
}

static void put_u64(GByteArray *bytes, uint64_t value)
{
	value = GUINT64_TO_LE(value);
	g_byte_array_append(bytes, (const uint8_t *)&value, sizeof(value));
}

static void put_words(GByteArray *bytes, uint64_t head, const uint64_t *words, size_t n)
{
	put_u64(bytes, head);
	for (size_t i = 0; i < n; i++)
		put_u64(bytes, words[i]);
}

static uint64_t head(uint8_t type, uint8_t kind, uint8_t n, uint32_t value)
{
	return type | (uint64_t)kind << 8 | (uint64_t)n << 16 | (uint64_t)value << 32;
}

static void put_allocation(GByteArray *bytes, uint8_t kind, uint32_t stack, uint64_t time_ns,
	uint64_t address, uint64_t size)
{
	const uint64_t words[] = {time_ns, address, size};

	put_words(bytes, head(ALLOCATION, kind, 0, stack), words, 3);
}

static void put_free(GByteArray *bytes, uint64_t time_ns, uint64_t address)
{
	const uint64_t words[] = {time_ns, address};

	put_words(bytes, head(FREE, 0, 0, 0), words, 2);
}

static void put_unmap(GByteArray *bytes, uint64_t time_ns, uint64_t address, uint64_t size)
{
	const uint64_t words[] = {time_ns, address, size};

	put_words(bytes, head(UNMAP, 0, 0, 0), words, 3);
}

static void put_stack(GByteArray *bytes, uint32_t id, uint64_t first, uint64_t second)
{
	const uint64_t words[] = {first, second};

	put_words(bytes, head(STACK, 0, 2, id), words, 2);
}

static void put_thread(GByteArray *bytes, uint32_t tid, uint64_t time_ns)
{
	const uint64_t words[] = {time_ns, UINT64_C(0x7f0000000000) + tid};

	put_words(bytes, head(THREAD, 0, 0, tid), words, 2);
}

/* The packed record before in the chunk, to which the next one refers. */
typedef struct {
	uint64_t time_ns, address;
} Packed;

static void put_number(GByteArray *bytes, uint64_t value)
{
	do {
		uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		g_byte_array_append(bytes, &byte, 1);
		value >>= 7;
	} while (value != 0);
}

static void put_packed_event(
	GByteArray *bytes, Packed *last, uint8_t first, unsigned time_bits, const Packed *event)
{
	uint64_t passed = event->time_ns - last->time_ns;
	bool is_lower = event->address < last->address;
	uint64_t moved = is_lower ? last->address - event->address : event->address - last->address;

	first |= (uint8_t)(passed % (1U << time_bits));
	g_byte_array_append(bytes, &first, 1);
	put_number(bytes, passed >> time_bits);
	/* 0, −1, 1, −2 … */
	put_number(bytes, is_lower ? 2 * (moved / 8) - 1 : 2 * (moved / 8));
	*last = *event;
}

static void put_packed_allocation(GByteArray *bytes, Packed *last, uint8_t kind, uint32_t stack,
	const Packed *event, uint64_t size)
{
	put_packed_event(bytes, last, (uint8_t)(0x80 | kind << 3), 3, event);
	put_number(bytes, size);
	put_number(bytes, stack);
}

static void put_packed_free(GByteArray *bytes, Packed *last, const Packed *event)
{
	put_packed_event(bytes, last, 0xc0, 6, event);
}

/* A whole record begins at a multiple of 8. */
static void put_pads(GByteArray *bytes)
{
	while (bytes->len % 8 != 0)
		g_byte_array_append(bytes, (const uint8_t *)"\x7f", 1);
}

static void fill_page(GByteArray *bytes)
{
	guint from = bytes->len;

	g_byte_array_set_size(bytes, (from + PAGE - 1) / PAGE * PAGE);
	memset(bytes->data + from, 0, bytes->len - from);
}

static GByteArray *begin(void)
{
	GByteArray *bytes = g_byte_array_new();

	g_byte_array_append(bytes, (const uint8_t *)"lodealoc", 8);
	put_u32(bytes, 3);
	put_u32(bytes, PAGE);
	put_u32(bytes, 4711);
	put_u32(bytes, 4710);
	put_u64(bytes, 5);
	put_u64(bytes, 0); /* used: patched at the end */
	put_u64(bytes, 3);
	put_u64(bytes, 0); /* dropped */
	put_u32(bytes, 1);
	put_u32(bytes, 16);
	fill_page(bytes);
	return bytes;
}

static guint begin_chunk(GByteArray *bytes, uint32_t tid)
{
	guint start = bytes->len;

	put_u32(bytes, CHUNK);
	put_u32(bytes, tid);
	put_u32(bytes, 0);
	put_u32(bytes, 0);
	return start;
}

static void patch(GByteArray *bytes, guint at, const void *value, size_t size)
{
	memcpy(bytes->data + at, value, size);
}

static void end_chunk(GByteArray *bytes, guint start)
{
	uint32_t size;

	fill_page(bytes);
	size = GUINT32_TO_LE(bytes->len - start);
	patch(bytes, start + 8, &size, sizeof(size));
}

static void end(GByteArray *bytes)
{
	uint64_t used = GUINT64_TO_LE((uint64_t)bytes->len);

	patch(bytes, 32, &used, sizeof(used));
}

static LodeAllocationLog *read_part(const GByteArray *bytes, size_t size, GError **error)
{
	g_autofree char *path = NULL;
	int descriptor = g_file_open_tmp("allocations-XXXXXX", &path, NULL);

	g_assert_cmpint(descriptor, >=, 0);
	g_assert_cmpint(write(descriptor, bytes->data, size), ==, (ssize_t)size);
	close(descriptor);
	LodeAllocationLog *log = lode_allocation_log_read(path, error);
	g_unlink(path);
	return log;
}

static LodeAllocationLog *read_good(const GByteArray *bytes)
{
	GError *error = NULL;
	LodeAllocationLog *log = read_part(bytes, bytes->len, &error);

	g_assert_no_error(error);
	return log;
}

/* Two threads; the second names a stack that stands in the chunk of the first. */
static GByteArray *every_kind(void)
{
	GByteArray *bytes = begin();
	guint chunk = begin_chunk(bytes, 4711);

	put_thread(bytes, 4711, 6);
	put_stack(bytes, 77, 0x401000, 0x402000);
	put_allocation(bytes, LODE_ALLOCATION_MALLOC, 77, 10, 0x1000, 100);
	put_free(bytes, 20, 0x1000);
	put_allocation(bytes, LODE_ALLOCATION_REALLOC, 77, 21, 0x1000, 40);
	put_allocation(bytes, LODE_ALLOCATION_MAP, 77, 30, 0x100000, 0x4000);
	put_unmap(bytes, 40, 0x101000, 0x1000);
	put_allocation(bytes, LODE_ALLOCATION_MALLOC, 99, 41, 0x2000, 0);
	end_chunk(bytes, chunk);
	chunk = begin_chunk(bytes, 4712);
	put_thread(bytes, 4712, 12);
	put_allocation(bytes, LODE_ALLOCATION_NEW, 77, 15, 0x1070, 24);
	put_free(bytes, 16, 0x9999);
	put_words(bytes, head(THREAD_END, 0, 0, 4712), (const uint64_t[]){50}, 1);
	end_chunk(bytes, chunk);
	end(bytes);
	return bytes;
}

static void check_summary(const LodeAllocationLog *log)
{
	const LodeAllocationLogSummary *summary = lode_allocation_log_summary(log);
	size_t n;
	const LodeLoggedThread *threads = lode_allocation_log_threads(log, &n);

	g_assert_cmpuint(summary->pid, ==, 4711);
	g_assert_cmpuint(summary->parent, ==, 4710);
	g_assert_cmpuint(summary->begin_ns, ==, 5);
	g_assert_cmpuint(summary->n_unseen, ==, 3);
	g_assert_cmpuint(summary->n_dropped, ==, 0);
	g_assert_true(summary->has_own_malloc);
	g_assert_false(summary->is_truncated);
	g_assert_cmpuint(n, ==, 2);
	g_assert_cmpuint(threads[0].tid, ==, 4711);
	g_assert_cmpuint(threads[1].begin_ns, ==, 12);
	g_assert_cmphex(threads[1].pointer, ==, UINT64_C(0x7f0000000000) + 4712);
}

static void check_found(const LodeAllocationLog *log, uint64_t address, uint64_t time_ns,
	uint64_t begin_ns, uint64_t end_ns)
{
	const LodeLoggedAllocation *found = lode_allocation_log_find(log, address, time_ns);

	g_assert_nonnull(found);
	g_assert_cmpuint(found->begin_ns, ==, begin_ns);
	g_assert_cmpuint(found->end_ns, ==, end_ns);
}

static void test_every_kind(void)
{
	g_autoptr(GByteArray) bytes = every_kind();
	g_autoptr(LodeAllocationLog) log = read_good(bytes);

	check_summary(log);
	check_found(log, 0x1063, 10, 10, 20);
	check_found(log, 0x1000, 19, 10, 20);
	check_found(log, 0x1027, UINT64_MAX, 21, UINT64_MAX);
	g_assert_null(lode_allocation_log_find(log, 0x1064, 15));
	g_assert_null(lode_allocation_log_find(log, 0x1000, 9));
	g_assert_null(lode_allocation_log_find(log, 0x1000, 20));
	g_assert_null(lode_allocation_log_find(log, 0x1028, 25));
	g_assert_null(lode_allocation_log_find(log, 0x2000, 45));
	/* cut into pieces by the munmap */
	check_found(log, 0x101000, 35, 30, 40);
	g_assert_null(lode_allocation_log_find(log, 0x101000, 40));
	check_found(log, 0x100fff, 45, 40, UINT64_MAX);
	check_found(log, 0x103fff, 45, 40, UINT64_MAX);
	const LodeLoggedAllocation *made = lode_allocation_log_find(log, 0x1070, 15);
	g_assert_cmpuint(made->tid, ==, 4712);
	g_assert_cmpint(made->kind, ==, LODE_ALLOCATION_NEW);
}

static void test_stacks(void)
{
	g_autoptr(GByteArray) bytes = every_kind();
	g_autoptr(LodeAllocationLog) log = read_good(bytes);
	const LodeLoggedAllocation *made = lode_allocation_log_find(log, 0x1070, 15);

	g_assert_cmpuint(lode_allocation_log_n_stacks(log), ==, 1);
	g_assert_cmpuint(made->stack, ==, 0);
	LodeAllocationStack stack = lode_allocation_log_stack(log, 0);
	g_assert_cmpuint(stack.n, ==, 2);
	g_assert_cmphex(stack.addresses[0], ==, 0x401000);
	g_assert_cmphex(stack.addresses[1], ==, 0x402000);
	g_assert_cmpuint(stack.n_allocations, ==, 4);
	g_assert_cmpuint(stack.n_bytes, ==, 100 + 40 + 0x4000 + 24);
	size_t n;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(log, &n);
	g_assert_cmpuint(n, ==, 4 + 3);
	g_assert_cmpuint(all[3].stack, ==, UINT32_MAX);
}

/* Whole up to where it ends. */
static void test_cut_short(void)
{
	g_autoptr(GByteArray) bytes = every_kind();

	for (size_t size = 8 + 8; size < bytes->len; size += 8) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeAllocationLog) log = read_part(bytes, size, &error);
		g_assert_no_error(error);
		g_assert_true(lode_allocation_log_summary(log)->is_truncated);
		if (size >= PAGE + 16 + 24 + 24 + 32)
			check_found(log, 0x1063, 10, 10,
				size >= PAGE + 16 + 24 + 24 + 32 + 24 ? 20 : 11);
	}
}

/* As every_kind(), packed as far as can be. */
static GByteArray *every_kind_packed(void)
{
	GByteArray *bytes = begin();
	guint chunk = begin_chunk(bytes, 4711);
	Packed last = {0, 0};

	put_thread(bytes, 4711, 6);
	put_stack(bytes, 77, 0x401000, 0x402000);
	put_packed_allocation(bytes, &last, LODE_ALLOCATION_MALLOC, 77, &(Packed){10, 0x1000}, 100);
	put_packed_free(bytes, &last, &(Packed){20, 0x1000});
	put_packed_allocation(bytes, &last, LODE_ALLOCATION_REALLOC, 77, &(Packed){21, 0x1000}, 40);
	put_packed_allocation(
		bytes, &last, LODE_ALLOCATION_MAP, 77, &(Packed){30, 0x100000}, 0x4000);
	put_pads(bytes);
	put_unmap(bytes, 40, 0x101000, 0x1000);
	put_packed_allocation(bytes, &last, LODE_ALLOCATION_MALLOC, 99, &(Packed){41, 0x2000}, 0);
	end_chunk(bytes, chunk);
	chunk = begin_chunk(bytes, 4712);
	last = (Packed){0, 0};
	put_thread(bytes, 4712, 12);
	put_packed_allocation(bytes, &last, LODE_ALLOCATION_NEW, 77, &(Packed){15, 0x1070}, 24);
	put_packed_free(bytes, &last, &(Packed){16, 0x9998});
	put_pads(bytes);
	put_words(bytes, head(THREAD_END, 0, 0, 4712), (const uint64_t[]){50}, 1);
	end_chunk(bytes, chunk);
	end(bytes);
	return bytes;
}

static void test_packed(void)
{
	g_autoptr(GByteArray) bytes = every_kind(), packed = every_kind_packed();
	g_autoptr(LodeAllocationLog) log = read_good(bytes), packed_log = read_good(packed);
	size_t n, n_packed;
	const LodeLoggedAllocation *all = lode_allocation_log_allocations(log, &n);
	const LodeLoggedAllocation *same = lode_allocation_log_allocations(packed_log, &n_packed);

	check_summary(packed_log);
	g_assert_cmpuint(n, ==, n_packed);
	for (size_t i = 0; i < n; i++) {
		g_assert_cmphex(all[i].address, ==, same[i].address);
		g_assert_cmpuint(all[i].size, ==, same[i].size);
		g_assert_cmpuint(all[i].begin_ns, ==, same[i].begin_ns);
		g_assert_cmpuint(all[i].end_ns, ==, same[i].end_ns);
		g_assert_cmpuint(all[i].tid, ==, same[i].tid);
		g_assert_cmpuint(all[i].stack, ==, same[i].stack);
		g_assert_cmpint(all[i].kind, ==, same[i].kind);
	}
}

static void test_packed_cut_short(void)
{
	enum { FIRST = PAGE + 16 + 24 + 24, FIRST_BYTES = 1 + 1 + 2 + 1 + 1 };
	g_autoptr(GByteArray) bytes = every_kind_packed();

	for (size_t size = FIRST; size < FIRST + 64; size++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeAllocationLog) log = read_part(bytes, size, &error);
		size_t n;
		g_assert_no_error(error);
		g_assert_true(lode_allocation_log_summary(log)->is_truncated);
		lode_allocation_log_allocations(log, &n);
		g_assert_cmpuint(n > 0, ==, size >= FIRST + FIRST_BYTES);
	}
}

/* An older log has no packed records. */
static void test_version_2(void)
{
	g_autoptr(GByteArray) bytes = every_kind();

	bytes->data[8] = 2;
	g_autoptr(LodeAllocationLog) log = read_good(bytes);
	check_summary(log);
	check_found(log, 0x1063, 10, 10, 20);
}

static void refuse(GByteArray *bytes, int code, const char *words);

static void test_bad_packed(void)
{
	static const struct {
		uint8_t bytes[20];
		const char *words;
	} cases[] = {
		{{0x80 | 6 << 3, 1, 2, 1, 1}, "unknown kind"},
		/* the address before 0 */
		{{0x80, 1, 1, 1, 1}, "beyond all addresses"},
		{{0x80, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1},
			"beyond all addresses"},
		{{0x7e, 1, 2, 1, 1}, "unknown type"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GByteArray) bytes = begin();
		guint chunk = begin_chunk(bytes, 1);
		g_byte_array_append(bytes, cases[i].bytes, sizeof(cases[i].bytes));
		end_chunk(bytes, chunk);
		end(bytes);
		refuse(bytes, LODE_ERROR_CORRUPT, cases[i].words);
	}
	/* a number that goes on to the end of the chunk */
	g_autoptr(GByteArray) bytes = begin();
	guint chunk = begin_chunk(bytes, 1);
	while (bytes->len < 2 * PAGE)
		g_byte_array_append(bytes, (const uint8_t *)"\xff", 1);
	end_chunk(bytes, chunk);
	end(bytes);
	refuse(bytes, LODE_ERROR_CORRUPT, "beyond its chunk");
}

/* A page that was given out and never written to hides nothing behind it. */
static void test_hole(void)
{
	g_autoptr(GByteArray) bytes = begin();
	guint chunk;

	g_byte_array_set_size(bytes, 3 * PAGE);
	memset(bytes->data + PAGE, 0, 2 * PAGE);
	chunk = begin_chunk(bytes, 1);
	put_allocation(bytes, LODE_ALLOCATION_MALLOC, 0, 10, 0x1000, 16);
	end_chunk(bytes, chunk);
	end(bytes);
	g_autoptr(LodeAllocationLog) log = read_good(bytes);
	g_assert_true(lode_allocation_log_summary(log)->is_truncated);
	check_found(log, 0x1000, 10, 10, 11);
}

/* What was freed behind the last record is not known: nothing lives on there. */
static void test_dropped(void)
{
	g_autoptr(GByteArray) bytes = every_kind();
	const uint64_t n_dropped = GUINT64_TO_LE(UINT64_C(2));

	patch(bytes, 48, &n_dropped, sizeof(n_dropped));
	g_autoptr(LodeAllocationLog) log = read_good(bytes);
	g_assert_cmpuint(lode_allocation_log_summary(log)->n_dropped, ==, 2);
	check_found(log, 0x1063, 10, 10, 20);
	check_found(log, 0x1000, 41, 21, 42);
	check_found(log, 0x100fff, 41, 40, 42);
	g_assert_null(lode_allocation_log_find(log, 0x1000, 42));
	g_assert_null(lode_allocation_log_find(log, 0x100fff, 42));
}

static LodeAllocationLog *read_sparse(
	const GByteArray *start, off_t size, const GByteArray *last, GError **error)
{
	g_autofree char *path = NULL;
	int descriptor = g_file_open_tmp("allocations-XXXXXX", &path, NULL);

	g_assert_cmpint(descriptor, >=, 0);
	g_assert_cmpint(write(descriptor, start->data, start->len), ==, (ssize_t)start->len);
	g_assert_cmpint(ftruncate(descriptor, size), ==, 0);
	if (last != NULL)
		g_assert_cmpint(pwrite(descriptor, last->data, last->len, size - (off_t)last->len),
			==, (ssize_t)last->len);
	close(descriptor);
	LodeAllocationLog *log = lode_allocation_log_read(path, error);
	g_unlink(path);
	return log;
}

/* Holes are skipped, of a size that cannot be ours nothing is read. */
static void test_sparse(void)
{
	g_autoptr(GByteArray) bytes = every_kind();
	g_autoptr(GByteArray) last = g_byte_array_new();
	g_autoptr(GError) error = NULL;
	const uint64_t all = UINT64_MAX;
	guint chunk = begin_chunk(last, 1);

	put_allocation(last, LODE_ALLOCATION_MALLOC, 0, 60, 0x5000, 16);
	end_chunk(last, chunk);
	patch(bytes, 32, &all, sizeof(all));
	g_autoptr(LodeAllocationLog) log = read_sparse(bytes, (off_t)1 << 34, last, &error);
	g_assert_no_error(error);
	g_assert_true(lode_allocation_log_summary(log)->is_truncated);
	check_found(log, 0x5000, 60, 60, 61);
	g_assert_null(read_sparse(bytes, ((off_t)1 << 34) + 1, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
}

/* Addresses that are alike in their low halves; if the table took them for alike, the test would
 * run into its time limit. */
static void test_far_apart(void)
{
	enum { N = 1000000 };
	g_autoptr(GByteArray) bytes = begin();
	guint chunk = begin_chunk(bytes, 1);

	for (uint64_t i = 0; i < N; i++) {
		if (bytes->len - chunk > (1 << 20) - 64) {
			end_chunk(bytes, chunk);
			chunk = begin_chunk(bytes, 1);
		}
		put_allocation(bytes, LODE_ALLOCATION_MALLOC, 0, 10 + i, i << 32, 16);
	}
	end_chunk(bytes, chunk);
	end(bytes);
	g_autoptr(LodeAllocationLog) log = read_good(bytes);
	for (uint64_t i = 0; i < N; i += 999)
		check_found(log, i << 32, UINT64_MAX, 10 + i, UINT64_MAX);
}

static void refuse(GByteArray *bytes, int code, const char *words)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeAllocationLog) log = read_part(bytes, bytes->len, &error);

	g_assert_null(log);
	g_assert_error(error, LODE_ERROR, code);
	if (strstr(error->message, words) == NULL)
		g_error("'%s' does not say '%s'", error->message, words);
}

static void test_bad(void)
{
	struct {
		guint at;
		uint8_t byte;
		int code;
		const char *words;
	} cases[] = {
		{0, 'x', LODE_ERROR_CORRUPT, "not a log of allocations"},
		{8, 1, LODE_ERROR_UNSUPPORTED, "version 1"},
		{PAGE + 16, 99, LODE_ERROR_CORRUPT, "offset 4112: unknown type"},
		{PAGE + 16 + 48 + 1, 6, LODE_ERROR_CORRUPT, "unknown kind"},
		{PAGE + 16 + 48 + 31, 0xff, LODE_ERROR_CORRUPT, "beyond all addresses"},
		{PAGE + 16 + 48 + 23, 0xff, LODE_ERROR_CORRUPT, "beyond all addresses"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GByteArray) bytes = every_kind();
		bytes->data[cases[i].at] = cases[i].byte;
		refuse(bytes, cases[i].code, cases[i].words);
	}
	g_autoptr(GByteArray) bytes = begin();
	guint chunk = begin_chunk(bytes, 1);
	put_words(bytes, head(THREAD_END, 0, 0, 1), (const uint64_t[]){1}, 1);
	while (bytes->len < 2 * PAGE - 8)
		put_thread(bytes, 1, 1);
	put_u64(bytes, head(FREE, 0, 0, 0));
	end_chunk(bytes, chunk);
	end(bytes);
	refuse(bytes, LODE_ERROR_CORRUPT, "beyond its chunk");
}

static void test_missing(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_allocation_log_read("/nonexistent/allocations-1.log", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
}

/* What is not of this log was had from a parent: its first end counts. */
static void test_given_back(void)
{
	const LodeLoggedAllocation block = {.address = 0x1000, .size = 64},
				   map = {.address = 0x8000,
					   .size = 0x4000,
					   .kind = LODE_ALLOCATION_MAP};
	g_autoptr(GByteArray) bytes = begin();
	guint chunk = begin_chunk(bytes, 1);

	put_free(bytes, 20, 0x1000);
	put_allocation(bytes, LODE_ALLOCATION_MALLOC, 0, 30, 0x1000, 64);
	put_free(bytes, 40, 0x1000);
	put_unmap(bytes, 25, 0x9000, 0x1000);
	put_allocation(bytes, LODE_ALLOCATION_MAP, 0, 35, 0x9000, 0x2000);
	end_chunk(bytes, chunk);
	end(bytes);
	g_autoptr(LodeAllocationLog) log = read_good(bytes);
	static const struct {
		uint64_t address, first_ns; /* 0: never */
	} pages[] = {{0x8fff, 0}, {0x9000, 25}, {0x9fff, 25}, {0xa000, 35}, {0xb000, 0}};
	g_assert_false(lode_allocation_log_has_given_back(log, &block, 0x1010, 19));
	g_assert_true(lode_allocation_log_has_given_back(log, &block, 0x1010, 20));
	g_assert_true(lode_allocation_log_has_given_back(log, &block, 0x1010, 35));
	for (size_t i = 0; i < G_N_ELEMENTS(pages); i++) {
		uint64_t first_ns = pages[i].first_ns, address = pages[i].address;
		g_assert_false(lode_allocation_log_has_given_back(
			log, &map, address, first_ns != 0 ? first_ns - 1 : UINT64_MAX));
		g_assert_true(first_ns == 0 ||
			      lode_allocation_log_has_given_back(log, &map, address, first_ns));
	}
}

/* --- random --- */

enum { N_STEPS = 3000, N_SLOTS = 48, SLOT = 256, SPACE = N_SLOTS * SLOT, BASE = 0x10000 };

typedef struct {
	uint64_t address, size, begin_ns, end_ns;
} Life;

static bool overlaps(const Life *life, uint64_t address, uint64_t size)
{
	return life->end_ns == UINT64_MAX && address < life->address + MAX(life->size, 1) &&
	       life->address < address + MAX(size, 1);
}

static bool is_free_room(const GArray *lives, uint64_t address, uint64_t size)
{
	for (guint i = 0; i < lives->len; i++)
		if (overlaps(&g_array_index(lives, Life, i), address, size))
			return false;
	return true;
}

static void step(GByteArray *bytes, GArray *lives, Packed *last, uint64_t time_ns)
{
	bool is_packed = random_bit();
	uint64_t address = BASE + (uint64_t)random_int_range(0, SPACE / 16) * 16;
	uint64_t size = (uint64_t)random_int_range(0, random_bit() ? 64 : 4 * SLOT);

	if (is_free_room(lives, address, size)) {
		const Life life = {address, size, time_ns, UINT64_MAX};
		g_array_append_val(lives, life);
		if (is_packed) {
			put_packed_allocation(bytes, last, LODE_ALLOCATION_MALLOC, 0,
				&(Packed){time_ns, address}, size);
			return;
		}
		put_pads(bytes);
		put_allocation(bytes, LODE_ALLOCATION_MALLOC, 0, time_ns, address, size);
		return;
	}
	for (guint i = lives->len; i-- > 0;) {
		Life *life = &g_array_index(lives, Life, i);
		if (!overlaps(life, address, size))
			continue;
		life->end_ns = time_ns;
		if (is_packed) {
			put_packed_free(bytes, last, &(Packed){time_ns, life->address});
			return;
		}
		put_pads(bytes);
		put_free(bytes, time_ns, life->address);
		return;
	}
}

static const Life *search(const GArray *lives, uint64_t address, uint64_t time_ns)
{
	for (guint i = 0; i < lives->len; i++) {
		const Life *life = &g_array_index(lives, Life, i);
		if (address >= life->address && address < life->address + life->size &&
			time_ns >= life->begin_ns && time_ns < life->end_ns)
			return life;
	}
	return NULL;
}

static void test_random(void)
{
	g_autoptr(GByteArray) bytes = begin();
	g_autoptr(GArray) lives = g_array_new(FALSE, FALSE, sizeof(Life));
	guint chunk = begin_chunk(bytes, 1), n_found = 0;
	Packed last = {0, 0};

	for (uint64_t i = 0; i < N_STEPS; i++)
		step(bytes, lives, &last, 100 + 2 * i);
	end_chunk(bytes, chunk);
	end(bytes);
	g_autoptr(LodeAllocationLog) log = read_good(bytes);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t address = BASE + (uint64_t)random_int_range(0, SPACE);
		uint64_t time_ns = (uint64_t)random_int_range(90, 110 + 2 * N_STEPS);
		const Life *expected = search(lives, address, time_ns);
		const LodeLoggedAllocation *found = lode_allocation_log_find(log, address, time_ns);
		g_assert_true((expected != NULL) == (found != NULL));
		if (found == NULL)
			continue;
		n_found++;
		g_assert_cmphex(found->address, ==, expected->address);
		g_assert_cmpuint(found->begin_ns, ==, expected->begin_ns);
		g_assert_cmpuint(found->end_ns, ==, expected->end_ns);
	}
	g_assert_cmpuint(n_found, >, 2000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/allocation_log/every_kind", test_every_kind);
	g_test_add_func("/allocation_log/stacks", test_stacks);
	g_test_add_func("/allocation_log/cut_short", test_cut_short);
	g_test_add_func("/allocation_log/packed", test_packed);
	g_test_add_func("/allocation_log/packed_cut_short", test_packed_cut_short);
	g_test_add_func("/allocation_log/version_2", test_version_2);
	g_test_add_func("/allocation_log/bad_packed", test_bad_packed);
	g_test_add_func("/allocation_log/hole", test_hole);
	g_test_add_func("/allocation_log/dropped", test_dropped);
	g_test_add_func("/allocation_log/sparse", test_sparse);
	g_test_add_func("/allocation_log/far_apart", test_far_apart);
	g_test_add_func("/allocation_log/bad", test_bad);
	g_test_add_func("/allocation_log/missing", test_missing);
	g_test_add_func("/allocation_log/given_back", test_given_back);
	add_random_test("/allocation_log/random", test_random,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	return g_test_run();
}
