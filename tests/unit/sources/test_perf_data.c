/* SPDX-License-Identifier: MIT */
/* The perf.data reader on files made here: what no recording at hand has. */
#include "base/error.h"
#include "perf_data_writer.h"
#include "sources/perf_data/perf_data.h"

#include <glib/gstdio.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

enum {
	SAMPLE_ID_ALL = 1 << 18,
	COMPRESSED = 81,
	COMPRESSED2 = 83,
	BRANCH_COUNTERS = 1 << 19,
	FORMAT_LOST = 1 << 4,
	COMMON = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
	EVERY_FIELD = (1 << 25) - 1 - PERF_SAMPLE_WEIGHT,
};

/* A file in memory; one at a time. */
static const char *memory_file(const uint8_t *bytes, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("perf.data", MFD_CLOEXEC);
	g_assert_cmpint(ftruncate(fd, 0), ==, 0);
	g_assert_cmpint(pwrite(fd, bytes, size, 0), ==, (gssize)size);
	g_snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static LodePerfData *open_bytes(const GByteArray *bytes)
{
	g_autoptr(GError) error = NULL;
	LodePerfData *file = lode_perf_data_open(memory_file(bytes->data, bytes->len), &error);

	g_assert_no_error(error);
	return file;
}

static LodePerfData *open_file(PerfDataFile *file)
{
	g_autoptr(GByteArray) bytes = perf_data_file_finish(file);

	return open_bytes(bytes);
}

static const LodePerfRecord *next(LodePerfData *file)
{
	static LodePerfRecord record;
	g_autoptr(GError) error = NULL;
	LodePerfNext got = lode_perf_data_next(file, &record, &error);

	g_assert_no_error(error);
	return got == LODE_PERF_NEXT_RECORD ? &record : NULL;
}

static void add_attribute(PerfDataFile *file, uint64_t sample_type, uint64_t id)
{
	file->attributes[file->n_attributes++] = (PerfDataAttribute){.type = PERF_TYPE_SOFTWARE,
		.sample_type = sample_type,
		.flags = SAMPLE_ID_ALL,
		.ids = {id, id + 1},
		.n_ids = id != 0 ? 2 : 0};
}

/* ip, tid, time, period. */
static void put_sample(PerfDataWriter *data, uint64_t ip)
{
	begin_record(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(data, ip);
	put32(data, 7);
	put32(data, 8);
	put64(data, 1000 + ip);
	put64(data, 3);
	end_record(data);
}

static void put_branches(PerfDataWriter *data)
{
	put64(data, 2);
	put64(data, 5); /* hardware index */
	for (uint64_t i = 0; i < 2; i++) {
		put64(data, 0xb000 + i);
		put64(data, 0xb100 + i);
		put64(data, put_field(data, 1, i == 0 ? 0 : 1, 1) | put_field(data, 1, 3, 1) |
				    put_field(data, 0x1234, 4, 16) | put_field(data, 9, 20, 4) |
				    put_field(data, 2, 24, 2) | put_field(data, 0xa, 26, 4) |
				    put_field(data, 5, 30, 3));
	}
	put64(data, 0xc0);
	put64(data, 0xc1);
}

static void put_every_field(PerfDataWriter *data)
{
	begin_record(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put64(data, 41);     /* identifier */
	put64(data, 0x1111); /* ip */
	put32(data, 7);
	put32(data, 8);
	put64(data, 99);     /* time */
	put64(data, 0x2222); /* address */
	put64(data, 41);     /* id */
	put64(data, 43);     /* stream */
	put32(data, 3);      /* cpu */
	put32(data, 0xffff);
	put64(data, 17); /* period */
	put64(data, 2);  /* read: a group of two */
	for (uint64_t i = 0; i < 2 + 2 * 3; i++)
		put64(data, 0x50 + i);
	put64(data, 3); /* call chain */
	put64(data, (uint64_t)PERF_CONTEXT_USER);
	put64(data, 0x1111);
	put64(data, 0x1112);
	put32(data, 12); /* raw */
	g_byte_array_append(data->bytes, (const uint8_t *)"0123456789a", 12);
	put_branches(data);
	put64(data, PERF_SAMPLE_REGS_ABI_64);
	put64(data, 0xaa);
	put64(data, 0xab);
	put64(data, 16); /* stack */
	g_byte_array_append(data->bytes, (const uint8_t *)"stackstackstack", 16);
	put64(data, 8);                  /* of it */
	put64(data, 0x0003000200000001); /* weight */
	put64(data, 0x68100142);         /* data source */
	put64(data, 0x77);               /* transaction */
	put64(data, PERF_SAMPLE_REGS_ABI_32);
	put64(data, 0xba);
	put64(data, 0x9999); /* physical address */
	put64(data, 0x88);   /* control group */
	put64(data, 4096);
	put64(data, 2 << 20);
	put64(data, 8); /* aux */
	put64(data, 0);
	end_record(data);
}

static void check_branches(const LodePerfSample *sample)
{
	g_assert_cmpuint(sample->n_branches, ==, 2);
	g_assert_cmphex(sample->branches[1].source, ==, 0xb001);
	g_assert_cmphex(sample->branches[1].target, ==, 0xb101);
	for (unsigned i = 0; i < 2; i++)
		g_assert_cmphex(sample->branches[i].flags, ==,
			1u << i | 1 << 3 | 0x1234 << 4 | 9 << 20 | 2 << 24 | 0xa << 26 |
				UINT64_C(5) << 30);
	g_assert_cmpuint(sample->branch_hw_index, ==, 5);
	g_assert_cmphex(sample->branch_counters[1], ==, 0xc1);
}

static void check_every_field(const LodePerfRecord *record)
{
	const LodePerfSample *sample = &record->sample;

	g_assert_cmpint(record->mode, ==, LODE_PERF_MODE_KERNEL);
	g_assert_cmpuint(record->pid, ==, 7);
	g_assert_cmpuint(record->tid, ==, 8);
	g_assert_cmpuint(record->time_ns, ==, 99);
	g_assert_cmphex(sample->ip, ==, 0x1111);
	g_assert_cmphex(sample->address, ==, 0x2222);
	g_assert_cmpuint(sample->id, ==, 41);
	g_assert_cmpuint(sample->stream_id, ==, 43);
	g_assert_cmpuint(sample->cpu, ==, 3);
	g_assert_cmpuint(sample->period, ==, 17);
	g_assert_cmpuint(sample->n_read_values, ==, 9);
	g_assert_cmphex(sample->read_values[8], ==, 0x57);
	g_assert_cmpuint(sample->n_callchain, ==, 3);
	g_assert_cmphex(sample->callchain[0], ==, (uint64_t)PERF_CONTEXT_USER);
	g_assert_cmphex(sample->callchain[2], ==, 0x1112);
	g_assert_cmpuint(sample->raw_size, ==, 12);
	g_assert_cmpstr((const char *)sample->raw, ==, "0123456789a");
	check_branches(sample);
	g_assert_cmpuint(sample->user_abi, ==, PERF_SAMPLE_REGS_ABI_64);
	g_assert_cmphex(sample->user_registers[1], ==, 0xab);
	g_assert_cmpuint(sample->stack_size, ==, 8);
	g_assert_cmpint(memcmp(sample->stack, "stacksta", 8), ==, 0);
	g_assert_cmphex(sample->weight, ==, 0x0003000200000001);
	g_assert_cmphex(sample->data_source, ==, 0x68100142);
	g_assert_cmphex(sample->transaction, ==, 0x77);
	g_assert_cmpuint(sample->interrupt_abi, ==, PERF_SAMPLE_REGS_ABI_32);
	g_assert_cmphex(sample->interrupt_registers[0], ==, 0xba);
	g_assert_cmphex(sample->physical_address, ==, 0x9999);
	g_assert_cmphex(sample->cgroup, ==, 0x88);
	g_assert_cmpuint(sample->data_page_size, ==, 4096);
	g_assert_cmpuint(sample->code_page_size, ==, 2 << 20);
}

static void init_every_field(PerfDataFile *file, bool is_big_endian, bool is_pipe)
{
	perf_data_file_init(file, is_big_endian, is_pipe);
	add_attribute(file, EVERY_FIELD, 41);
	file->attributes[0].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
	                                  PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
	                                  FORMAT_LOST;
	file->attributes[0].branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
	                                         PERF_SAMPLE_BRANCH_HW_INDEX | BRANCH_COUNTERS;
	file->attributes[0].user_registers = 1 << 3 | 1 << 8;
	file->attributes[0].interrupt_registers = UINT64_C(1) << 40;
	file->attributes[0].flags |= 2 << 15 | 1 << 5 | 1 << 6 | 1 << 25;
	put_every_field(&file->data);
	put_every_field(&file->data);
}

/* In both byte orders, in header and pipe mode, twice. */
static void test_every_field(void)
{
	for (int i = 0; i < 4; i++) {
		PerfDataFile parts;
		size_t n_events;
		init_every_field(&parts, (i & 1) != 0, (i & 2) != 0);
		g_autoptr(LodePerfData) file = open_file(&parts);
		for (int reading = 0; reading < 2; reading++) {
			check_every_field(next(file));
			check_every_field(next(file));
			g_assert_null(next(file));
			lode_perf_data_rewind(file);
		}
		const LodePerfEvent *events = lode_perf_data_events(file, &n_events);
		g_assert_cmpuint(n_events, ==, 1);
		g_assert_cmpstr(events[0].name, ==, "cpu-clock:upp");
		g_assert_cmpuint(events[0].precise, ==, 2);
		g_assert_cmpint(lode_perf_data_info(file)->clock_id, ==, 1);
		g_assert_cmpint(lode_perf_data_info(file)->is_pipe, ==, (i & 2) != 0);
		g_assert_cmpint(lode_perf_data_info(file)->is_swapped, ==,
			((i & 1) != 0) == (G_BYTE_ORDER == G_LITTLE_ENDIAN));
		perf_data_file_clear(&parts);
	}
}

/* Samples and trailers name their event by the identifier, or by the id inside them. */
static void test_two_events(void)
{
	for (int i = 0; i < 2; i++) {
		uint64_t named = i == 0 ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID;
		PerfDataFile parts;
		perf_data_file_init(&parts, false, i == 1);
		add_attribute(&parts, PERF_SAMPLE_IP | PERF_SAMPLE_CPU | named, 10);
		add_attribute(&parts, PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | named, 20);
		parts.attributes[1].config = PERF_COUNT_SW_PAGE_FAULTS;
		for (uint64_t id = 21; id >= 10; id -= id == 21 ? 11 : 10) {
			begin_record(&parts.data, PERF_RECORD_SAMPLE, 0);
			put64(&parts.data, i == 0 ? id : 0x123);
			put64(&parts.data, i == 0 ? 0x123 : id);
			put64(&parts.data, 5);
			end_record(&parts.data);
		}
		begin_record(&parts.data, PERF_RECORD_SAMPLE, 0);
		put64(&parts.data, 777);
		put64(&parts.data, 777);
		put64(&parts.data, 5);
		end_record(&parts.data);
		g_autoptr(LodePerfData) file = open_file(&parts);
		const LodePerfRecord *record = next(file);
		g_assert_cmpuint(record->event, ==, 1);
		g_assert_cmpuint(record->sample.period, ==, 5);
		g_assert_cmphex(record->sample.ip, ==, 0x123);
		record = next(file);
		g_assert_cmpuint(record->event, ==, 0);
		g_assert_cmpuint(record->sample.cpu, ==, 5);
		/* The third is of no event that is known. */
		g_assert_null(next(file));
		g_assert_cmpuint(lode_perf_data_info(file)->left_out.n_unknown_ids, ==, 1);
		lode_perf_data_rewind(file);
		lode_perf_data_skip_samples(file, true);
		g_assert_null(next(file));
		lode_perf_data_rewind(file);
		lode_perf_data_skip_samples(file, false);
		while (next(file) != NULL)
			;
		g_assert_cmpuint(lode_perf_data_info(file)->left_out.n_unknown_ids, ==, 1);
		perf_data_file_clear(&parts);
	}
}

static void put_trailer(PerfDataWriter *data)
{
	put32(data, 70); /* pid */
	put32(data, 71);
	put64(data, 555); /* time */
	put32(data, 2);   /* cpu */
	put32(data, 0);
}

static void put_mapping(PerfDataWriter *data, bool has_build_id)
{
	begin_record(data, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (has_build_id ? 1 << 14 : 0));
	put32(data, 7);
	put32(data, 8);
	put64(data, 0x400000);
	put64(data, 0x2000);
	put64(data, 0x1000);
	if (has_build_id) {
		put8(data, 4);
		for (uint8_t i = 1; i < 24; i++)
			put8(data, i);
	} else {
		put32(data, 0x103);
		put32(data, 5);
		put64(data, UINT64_C(0x100000007));
		put64(data, 9);
	}
	put32(data, PROT_READ | PROT_WRITE);
	put32(data, 2);
	put_text(data, "/bin/a b");
	put_trailer(data);
	end_record(data);
}

static void put_kernel_records(PerfDataWriter *data)
{
	put_mapping(data, true);
	put_mapping(data, false);
	begin_record(data, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	put32(data, UINT32_MAX);
	put32(data, 0);
	put64(data, 0xffff0000);
	put64(data, 0x1000);
	put64(data, 0);
	put_text(data, "[kernel]");
	put_trailer(data);
	end_record(data);
	begin_record(data, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put32(data, 7);
	put32(data, 8);
	put_text(data, "name");
	put_trailer(data);
	end_record(data);
	for (uint32_t type = PERF_RECORD_FORK; type != PERF_RECORD_EXIT; type = PERF_RECORD_EXIT) {
		begin_record(data, type, 0);
		put32(data, 7);
		put32(data, 1);
		put32(data, 8);
		put32(data, 2);
		put64(data, 444);
		put_trailer(data);
		end_record(data);
	}
	begin_record(data, PERF_RECORD_LOST, 0);
	put64(data, 1);
	put64(data, 1234);
	put_trailer(data);
	end_record(data);
	/* Without a trailer: its own time. */
	begin_record(data, PERF_RECORD_THROTTLE, 0);
	put64(data, 333);
	put64(data, 1);
	put64(data, 2);
	end_record(data);
}

static void check_mapping(const LodePerfRecord *record, const char *path, bool has_build_id)
{
	const LodePerfMapping *mapping = &record->mapping;

	g_assert_cmpint(record->kind, ==, LODE_PERF_MAPPING);
	g_assert_cmpuint(record->time_ns, ==, 555);
	g_assert_cmpstr(mapping->path, ==, path);
	g_assert_cmpuint(mapping->build_id_size, ==, has_build_id ? 4 : 0);
	if (has_build_id)
		g_assert_cmpint(memcmp(mapping->build_id, "\4\5\6\7", 4), ==, 0);
}

static void check_kernel_records(LodePerfData *file)
{
	const LodePerfRecord *record = next(file);

	check_mapping(record, "/bin/a b", true);
	g_assert_cmphex(record->mapping.start, ==, 0x400000);
	g_assert_cmphex(record->mapping.size, ==, 0x2000);
	g_assert_cmphex(record->mapping.offset, ==, 0x1000);
	g_assert_cmpuint(record->mapping.protection, ==, PROT_READ | PROT_WRITE);
	g_assert_cmpuint(record->pid, ==, 7);
	g_assert_cmpuint(record->mapping.inode, ==, 0);
	record = next(file);
	check_mapping(record, "/bin/a b", false);
	g_assert_cmpuint(record->mapping.inode, !=, 0);
	g_assert_cmpuint(record->mapping.device_major, ==, 0x103);
	g_assert_cmpuint(record->mapping.device_minor, ==, 5);
	g_assert_cmpuint(record->mapping.inode, ==, UINT64_C(0x100000007));
	g_assert_cmpuint(record->mapping.generation, ==, 9);
	record = next(file);
	check_mapping(record, "[kernel]", false);
	g_assert_cmpuint(record->mapping.inode, ==, 0);
	g_assert_cmpuint(record->pid, ==, UINT32_MAX);
	g_assert_cmpuint(record->mapping.protection, ==, PROT_READ | PROT_EXEC);
	record = next(file);
	g_assert_cmpint(record->kind, ==, LODE_PERF_COMMAND);
	g_assert_true(record->is_exec);
	g_assert_cmpstr(record->text, ==, "name");
	record = next(file);
	g_assert_cmpint(record->kind, ==, LODE_PERF_FORK);
	g_assert_cmpuint(record->pid, ==, 7);
	g_assert_cmpuint(record->parent_pid, ==, 1);
	g_assert_cmpuint(record->tid, ==, 8);
	g_assert_cmpuint(record->parent_tid, ==, 2);
	record = next(file);
	g_assert_cmpint(record->kind, ==, LODE_PERF_LOST);
	g_assert_cmpuint(record->value, ==, 1234);
	g_assert_cmpuint(record->pid, ==, 70);
	g_assert_cmpuint(record->sample.cpu, ==, 2);
	record = next(file);
	g_assert_cmpint(record->kind, ==, LODE_PERF_THROTTLE);
	g_assert_cmpuint(record->time_ns, ==, 333);
	g_assert_null(next(file));
}

static void test_kernel_records(void)
{
	for (int i = 0; i < 2; i++) {
		PerfDataFile parts;
		perf_data_file_init(&parts, i == 1, false);
		add_attribute(&parts,
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, 0);
		put_kernel_records(&parts.data);
		g_autoptr(LodePerfData) file = open_file(&parts);
		check_kernel_records(file);
		perf_data_file_clear(&parts);
	}
}

static void put_piece(PerfDataWriter *data, uint32_t type, const ZSTD_outBuffer *piece)
{
	begin_record(data, type, 0);
	if (type == COMPRESSED2)
		put64(data, piece->pos);
	g_byte_array_append(data->bytes, piece->dst, (guint)piece->pos);
	while (type == COMPRESSED2 && data->bytes->len % 8 != 0)
		put8(data, 0);
	end_record(data);
}

/* Compresses in pieces of 100 bytes, which cut most records. */
static void put_compressed(
	PerfDataWriter *data, const GByteArray *records, uint32_t type, ZSTD_EndDirective directive)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	char bytes[4096];

	for (guint at = 0; at < records->len; at += 100) {
		ZSTD_inBuffer in = {records->data + at, MIN(100, records->len - at), 0};
		ZSTD_outBuffer out = {bytes, sizeof(bytes), 0};
		g_assert_cmpuint(ZSTD_compressStream2(context, &out, &in, directive), ==, 0);
		put_piece(data, type, &out);
		/* Such a record stands between pieces of a round. */
		begin_record(data, 68, 0);
		end_record(data);
	}
	ZSTD_freeCCtx(context);
}

static void check_compressed(uint32_t type, ZSTD_EndDirective directive, bool is_big_endian)
{
	enum { N = 20000 };
	PerfDataFile parts;

	perf_data_file_init(&parts, is_big_endian, false);
	add_attribute(&parts, COMMON, 0);
	PerfDataWriter inner = {g_byte_array_new(), is_big_endian, 0};
	for (uint64_t i = 0; i < N; i++)
		put_sample(&inner, i);
	put_compressed(&parts.data, inner.bytes, type, directive);
	g_autoptr(LodePerfData) file = open_file(&parts);
	for (int reading = 0; reading < 2; reading++) {
		for (uint64_t i = 0; i < N; i++) {
			const LodePerfRecord *record = next(file);
			g_assert_nonnull(record);
			g_assert_cmpuint(record->sample.ip, ==, i);
			g_assert_cmpuint(record->sample.period, ==, 3);
		}
		g_assert_null(next(file));
		g_assert_cmpuint(
			lode_perf_data_info(file)->decompressed_bytes, ==, inner.bytes->len);
		lode_perf_data_rewind(file);
	}
	g_byte_array_unref(inner.bytes);
	perf_data_file_clear(&parts);
}

static void test_compressed(void)
{
	check_compressed(COMPRESSED, ZSTD_e_flush, false);
	check_compressed(COMPRESSED, ZSTD_e_end, false);
	check_compressed(COMPRESSED2, ZSTD_e_flush, false);
	check_compressed(COMPRESSED2, ZSTD_e_end, true);
}

/* One record that holds 4 MB: more than the window. */
static void test_compressed_far(void)
{
	enum { N = 100000 };
	PerfDataFile parts;
	PerfDataWriter inner = {g_byte_array_new(), false, 0};

	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	for (int i = 0; i < N; i++)
		put_sample(&inner, 5);
	g_autofree char *bytes = g_malloc(60000);
	ZSTD_outBuffer piece = {bytes, 60000, 0};
	piece.pos = ZSTD_compress(bytes, 60000, inner.bytes->data, inner.bytes->len, 3);
	g_assert_false(ZSTD_isError(piece.pos));
	put_piece(&parts.data, COMPRESSED, &piece);
	g_autoptr(LodePerfData) file = open_file(&parts);
	for (int i = 0; i < N; i++)
		g_assert_cmpuint(next(file)->sample.ip, ==, 5);
	g_assert_null(next(file));
	g_byte_array_unref(inner.bytes);
	perf_data_file_clear(&parts);
}

/* One compressed record of `inner`, and the error that reading it ends with. */
static char *expansion_error(const GByteArray *inner)
{
	PerfDataFile parts;
	LodePerfRecord record;
	LodePerfNext got = LODE_PERF_NEXT_RECORD;
	g_autoptr(GError) error = NULL;
	g_autofree char *bytes = g_malloc(60000);
	ZSTD_outBuffer piece = {bytes, 60000, 0};

	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	piece.pos = ZSTD_compress(bytes, 60000, inner->data, inner->len, 3);
	g_assert_false(ZSTD_isError(piece.pos));
	put_piece(&parts.data, COMPRESSED, &piece);
	g_autoptr(LodePerfData) file = open_file(&parts);
	while (got == LODE_PERF_NEXT_RECORD)
		got = lode_perf_data_next(file, &record, &error);
	perf_data_file_clear(&parts);
	g_assert_cmpint(got, ==, LODE_PERF_NEXT_ERROR);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	return g_strdup(error->message);
}

/* What is kept of a recording is bounded by its size: mappings more closely than samples. */
static void test_expansion(void)
{
	PerfDataWriter mappings = {g_byte_array_new(), false, 0};
	PerfDataWriter samples = {g_byte_array_new(), false, 0};

	for (uint64_t i = 0; i < 400000; i++) {
		begin_record(&mappings, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
		put32(&mappings, 7);
		put32(&mappings, 7);
		put64(&mappings, 0x1000);
		put64(&mappings, 0x1000);
		put64(&mappings, 0);
		put_text(&mappings, "/lib/libc.so.6");
		end_record(&mappings);
	}
	g_autofree char *mapped = expansion_error(mappings.bytes);
	g_assert_nonnull(strstr(mapped, "mappings and threads grow to more than 32 times"));
	for (uint64_t i = 0; i < 2500000; i++)
		put_sample(&samples, 5);
	g_autofree char *sampled = expansion_error(samples.bytes);
	g_assert_nonnull(strstr(sampled, "grows to more than 512 times its size"));
	g_byte_array_unref(mappings.bytes);
	g_byte_array_unref(samples.bytes);
}

/* Another program may write the file anew while it is read: an error, not a signal. */
static void test_cut_while_read(void)
{
	enum { N = 40000 };
	PerfDataFile parts;
	LodePerfRecord record;
	LodePerfNext got = LODE_PERF_NEXT_RECORD;
	g_autoptr(GError) error = NULL;
	int n = -1;

	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	for (uint64_t i = 0; i < N; i++)
		put_sample(&parts.data, i);
	g_autoptr(LodePerfData) file = open_file(&parts);
	g_assert_nonnull(next(file));
	memory_file((const uint8_t *)"", 0);
	for (; got == LODE_PERF_NEXT_RECORD; n++)
		got = lode_perf_data_next(file, &record, &error);
	g_assert_cmpint(got, ==, LODE_PERF_NEXT_ERROR);
	g_assert_cmpint(n, <, N - 1);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(error->message, "the file was cut short while it was read"));
	perf_data_file_clear(&parts);
}

/* After a crash: the size is not known and the last record is not whole. */
static void test_crash(void)
{
	PerfDataFile parts;

	perf_data_file_init(&parts, false, false);
	parts.has_data_size = false;
	add_attribute(&parts, COMMON, 0);
	put_sample(&parts.data, 1);
	put_sample(&parts.data, 2);
	g_byte_array_set_size(parts.data.bytes, parts.data.bytes->len - 4);
	g_autoptr(LodePerfData) file = open_file(&parts);
	g_assert_cmpuint(next(file)->sample.ip, ==, 1);
	g_assert_null(next(file));
	g_assert_true(lode_perf_data_info(file)->is_truncated);
	perf_data_file_clear(&parts);
}

/* What a newer perf and kernel may write. */
static void test_newer(void)
{
	PerfDataFile parts;

	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	parts.attributes[0].size = 200;
	put64(perf_data_file_feature(&parts, 39), 1);
	for (uint32_t type = 23; type < 120; type += 97 - 23) {
		begin_record(&parts.data, type, 0);
		put64(&parts.data, 1);
		end_record(&parts.data);
	}
	put_sample(&parts.data, 9);
	g_autoptr(LodePerfData) file = open_file(&parts);
	for (int reading = 0; reading < 2; reading++) {
		g_assert_cmpuint(next(file)->sample.ip, ==, 9);
		g_assert_null(next(file));
		g_assert_cmpuint(lode_perf_data_info(file)->left_out.n_skipped, ==, 2);
		g_assert_cmpuint(lode_perf_data_info(file)->left_out.n_unknown_features, ==, 1);
		lode_perf_data_rewind(file);
	}
	perf_data_file_clear(&parts);
}

/* Before perf 3.4: no byte order in the magic, and attributes of 64 bytes. */
static void test_older(void)
{
	for (int i = 0; i < 2; i++) {
		PerfDataFile parts;
		perf_data_file_init(&parts, i == 1, false);
		parts.is_version_1 = true;
		add_attribute(&parts, COMMON, 0);
		parts.attributes[0].size = 64;
		put_sample(&parts.data, 9);
		g_autoptr(LodePerfData) file = open_file(&parts);
		g_assert_cmpuint(next(file)->sample.ip, ==, 9);
		g_assert_null(next(file));
		perf_data_file_clear(&parts);
	}
}

/* Payloads behind records are passed over, though they look like records. */
static void test_payloads(void)
{
	PerfDataFile parts;

	perf_data_file_init(&parts, false, true);
	add_attribute(&parts, COMMON, 0);
	begin_record(&parts.data, 71, 0);
	put64(&parts.data, 40);
	for (int i = 0; i < 4; i++)
		put64(&parts.data, 0);
	end_record(&parts.data);
	put_sample(&parts.data, 1);
	begin_record(&parts.data, 66, 0);
	put32(&parts.data, 40);
	put32(&parts.data, 0);
	end_record(&parts.data);
	put_sample(&parts.data, 2);
	put_sample(&parts.data, 3);
	g_autoptr(LodePerfData) file = open_file(&parts);
	g_assert_cmpuint(next(file)->sample.ip, ==, 3);
	g_assert_null(next(file));
	g_assert_cmpuint(lode_perf_data_info(file)->left_out.aux_bytes, ==, 40);
	perf_data_file_clear(&parts);
}

/* A record of simpleperf: the upper half of its size stands in place of misc. */
static void put_long_record(PerfDataWriter *data, uint32_t size)
{
	put32(data, 32769);
	put16(data, (uint16_t)(size >> 16));
	put16(data, (uint16_t)size);
	for (uint32_t i = 8; i < size; i++)
		put8(data, 0xff);
}

/* Android's simpleperf: a description of tracepoints inside its record, as it wrote once, and
 * records of its own that may be longer than the reader's window. */
static void test_simpleperf(void)
{
	for (int i = 0; i < 2; i++) {
		PerfDataFile parts;
		perf_data_file_init(&parts, i == 1, false);
		add_attribute(&parts, COMMON, 0);
		begin_record(&parts.data, 66, 0);
		put32(&parts.data, 40);
		for (int j = 0; j < 11; j++) /* filled up */
			put32(&parts.data, UINT32_MAX);
		end_record(&parts.data);
		put_sample(&parts.data, 1);
		put_long_record(&parts.data, 64);
		put_long_record(&parts.data, 70000);
		put_sample(&parts.data, 2);
		put_long_record(&parts.data, 3 << 18);
		put_sample(&parts.data, 3);
		g_autoptr(LodePerfData) file = open_file(&parts);
		for (uint64_t j = 1; j <= 3; j++)
			g_assert_cmpuint(next(file)->sample.ip, ==, j);
		g_assert_null(next(file));
		g_assert_cmpuint(lode_perf_data_info(file)->left_out.n_skipped, ==, 3);
		perf_data_file_clear(&parts);
	}
}

enum { FEATURE_DIRECTORY = 24, N_PARTS = 11 };

/* A directory as of perf record --threads, with files data.0 … of which data.2 and data.10 have the
 * samples 2, 3 and 6, 7; removed by remove_directory(). */
static char *make_directory(uint64_t version, unsigned n_parts)
{
	char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *header_path = g_build_filename(directory, "data", NULL);
	g_autofree char *other_path = g_build_filename(directory, "data.x", NULL);
	PerfDataFile header;

	perf_data_file_init(&header, false, false);
	add_attribute(&header, COMMON, 0);
	put64(perf_data_file_feature(&header, FEATURE_DIRECTORY), version);
	put_sample(&header.data, 1);
	g_autoptr(GByteArray) bytes = perf_data_file_finish(&header);
	g_assert_true(
		g_file_set_contents(header_path, (const char *)bytes->data, bytes->len, NULL));
	g_assert_true(g_file_set_contents(other_path, "no records", -1, NULL));
	perf_data_file_clear(&header);
	for (unsigned i = 0; i < n_parts; i++) {
		g_autofree char *path = g_strdup_printf("%s/data.%u", directory, i);
		PerfDataFile part;
		perf_data_file_init(&part, false, false);
		if (i == 2 || i == 10) {
			uint64_t first = i == 2 ? 2 : 6;
			put_sample(&part.data, first);
			PerfDataWriter inner = {g_byte_array_new(), false, 0};
			put_sample(&inner, first + 1);
			put_compressed(&part.data, inner.bytes, COMPRESSED, ZSTD_e_flush);
			g_byte_array_unref(inner.bytes);
		}
		g_assert_true(g_file_set_contents(
			path, (const char *)part.data.bytes->data, part.data.bytes->len, NULL));
		perf_data_file_clear(&part);
	}
	return directory;
}

static void remove_directory(char *directory)
{
	static const char *const names[] = {"data", "data.x"};

	for (unsigned i = 0; i < N_PARTS + G_N_ELEMENTS(names); i++) {
		g_autofree char *part = g_strdup_printf("data.%u", i);
		g_autofree char *path = g_build_filename(
			directory, i < N_PARTS ? part : names[i - N_PARTS], NULL);
		g_unlink(path);
	}
	g_assert_cmpint(g_rmdir(directory), ==, 0);
	g_free(directory);
}

static void test_directory(void)
{
	char *directory = make_directory(1, N_PARTS);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfData) file = lode_perf_data_open(directory, &error);

	g_assert_no_error(error);
	for (int pass = 0; pass < 2; pass++) {
		static const uint64_t expected[] = {1, 2, 3, 6, 7};
		for (size_t i = 0; i < G_N_ELEMENTS(expected); i++)
			g_assert_cmpuint(next(file)->sample.ip, ==, expected[i]);
		g_assert_cmpuint(lode_perf_data_position(file), <=, lode_perf_data_size(file));
		if (pass == 0)
			g_assert_null(next(file));
		lode_perf_data_rewind(file);
	}
	remove_directory(directory);
}

/* Files of a directory that were given alone, and directories that are not whole. */
static void test_part_of_directory(void)
{
	char *directory = make_directory(1, N_PARTS), *alone = make_directory(1, 0);
	char *single = make_directory(0, 0), *empty = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *header = g_build_filename(directory, "data", NULL);
	g_autofree char *part = g_build_filename(directory, "data.9", NULL);
	g_autofree char *cut = g_build_filename(directory, "data.10", NULL);
	char *broken = make_directory(1, 3);
	g_autofree char *missing = g_build_filename(broken, "data.1", NULL);
	g_autofree char *give = g_strdup_printf("give the directory '%s'", directory);
	const char *const wrong[] = {header, alone, empty, broken};
	const char *const why[] = {
		give, "data.0, data.1 …", "without a file 'data'", "file data.1 is missing"};

	g_assert_cmpint(g_unlink(missing), ==, 0);

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(lode_perf_data_open(wrong[i], &error));
		g_assert_nonnull(strstr(error->message, why[i]));
		g_assert_true(g_str_has_prefix(error->message, wrong[i]));
	}
	g_assert_true(lode_perf_data_is_part(part));
	g_assert_false(lode_perf_data_is_part(header));
	g_autoptr(LodePerfData) whole = lode_perf_data_open(single, NULL);
	g_assert_cmpuint(next(whole)->sample.ip, ==, 1);
	g_assert_null(next(whole));
	/* An error is in the part, and at its offset. */
	g_assert_true(g_file_set_contents(cut, "0123456789ab", -1, NULL));
	g_autoptr(LodePerfData) file = lode_perf_data_open(directory, NULL);
	g_autoptr(GError) error = NULL;
	g_autofree char *where = g_strconcat(cut, ": at offset 0: ", NULL);
	LodePerfRecord record;
	LodePerfNext got = LODE_PERF_NEXT_RECORD;
	while (got == LODE_PERF_NEXT_RECORD)
		got = lode_perf_data_next(file, &record, &error);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_true(g_str_has_prefix(error->message, where));
	remove_directory(directory);
	remove_directory(alone);
	remove_directory(broken);
	remove_directory(single);
	remove_directory(empty);
}

static void put_features(PerfDataFile *parts)
{
	PerfDataWriter *out = perf_data_file_feature(parts, 2);
	begin_record(out, 0, PERF_RECORD_MISC_USER);
	put32(out, UINT32_MAX);
	for (uint8_t i = 0; i < 24; i++)
		put8(out, i < 16 ? i : 0);
	put_text(out, "/bin/a");
	end_record(out);
	put_counted_text(perf_data_file_feature(parts, 3), "host");
	out = perf_data_file_feature(parts, 7);
	put32(out, 8);
	put32(out, 6);
	out = perf_data_file_feature(parts, 11);
	put32(out, 2);
	put_counted_text(out, "perf");
	put_counted_text(out, "it's");
	out = perf_data_file_feature(parts, 12);
	put32(out, 1);
	put32(out, 64);
	for (int i = 0; i < 8; i++)
		put64(out, 0);
	put32(out, 1);
	put_counted_text(out, "my-event");
	put64(out, 5);
	out = perf_data_file_feature(parts, 14);
	put32(out, 1);
	put32(out, 3);
	put64(out, 1000);
	put64(out, 500);
	put_counted_text(out, "0-5");
	/* Damaged: its text is longer than it. */
	put32(perf_data_file_feature(parts, 9), 1000);
}

static void check_features(LodePerfData *file)
{
	const LodePerfInfo *info = lode_perf_data_info(file);
	size_t n_events;

	g_assert_cmpstr(info->host, ==, "host");
	g_assert_cmpuint(info->n_cpus_available, ==, 8);
	g_assert_cmpuint(info->n_cpus_online, ==, 6);
	g_assert_cmpstr(info->command, ==, "perf 'it'\\''s'");
	g_assert_cmpstr(lode_perf_data_events(file, &n_events)[0].name, ==, "my-event");
	g_assert_cmpuint(info->numa_nodes->len, ==, 1);
	const LodePerfNumaNode *node = &g_array_index(info->numa_nodes, LodePerfNumaNode, 0);
	g_assert_cmpuint(node->node, ==, 3);
	g_assert_cmpuint(node->free_kib, ==, 500);
	g_assert_cmpstr(node->cpus, ==, "0-5");
	g_assert_cmpuint(info->build_ids->len, ==, 1);
	const LodePerfBuildId *entry = &g_array_index(info->build_ids, LodePerfBuildId, 0);
	g_assert_cmpstr(entry->build_id, ==, "000102030405060708090a0b0c0d0e0f");
	g_assert_cmpstr(entry->path, ==, "/bin/a");
	g_assert_null(info->cpu_id);
	g_assert_cmpuint(info->left_out.n_damaged_features, ==, 1);
}

/* A build-id of `size` bytes 0x91, 0x92 … of which the last `n_zeros` are 0, in 20 bytes. */
static void put_build_id(PerfDataWriter *out, size_t size, size_t n_zeros)
{
	for (size_t i = 0; i < 20; i++)
		put8(out, i < size - n_zeros ? (uint8_t)(0x91 + i) : 0);
}

static void put_mapping_with_build_id(PerfDataWriter *data, size_t size, bool has_size)
{
	begin_record(data, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | 1 << 14);
	put32(data, 7);
	put32(data, 8);
	for (int i = 0; i < 3; i++)
		put64(data, 0x1000);
	put32(data, has_size ? (uint32_t)size : 0);
	put_build_id(data, size, 0);
	put32(data, PROT_READ | PROT_EXEC);
	put32(data, 2);
	put_text(data, "/bin/a");
	end_record(data);
}

static void check_build_id(
	const char *build_id, size_t n_bytes, size_t size, size_t n_zeros, bool is_padded)
{
	static const char hex[] = "9192939495969798999a9b9c9d9e9fa0a1a2a3a4";
	size_t n_own = size - n_zeros;

	g_assert_cmpuint(n_bytes, <=, 20);
	if (!is_padded)
		g_assert_cmpuint(n_bytes, ==, size);
	else if (n_zeros < 4 && (size == 8 || size == 16 || size == 20))
		g_assert_cmpuint(n_bytes, ==, size);
	g_assert_cmpuint(n_bytes, >=, n_own);
	g_assert_true(strncmp(build_id, hex, 2 * n_own) == 0);
	g_assert_cmpuint(strspn(build_id + 2 * n_own, "0"), ==, 2 * (n_bytes - n_own));
}

static void check_header_build_id(size_t size, size_t n_zeros, bool has_size)
{
	PerfDataFile parts;

	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	PerfDataWriter *out = perf_data_file_feature(&parts, 2);
	begin_record(out, 0, (uint16_t)(PERF_RECORD_MISC_USER | (has_size ? 1 << 15 : 0)));
	put32(out, UINT32_MAX);
	put_build_id(out, size, n_zeros);
	put32(out, has_size ? (uint32_t)size : 0);
	put_text(out, "/bin/a");
	end_record(out);
	put_sample(&parts.data, 1);
	g_autoptr(LodePerfData) file = open_file(&parts);
	const LodePerfInfo *info = lode_perf_data_info(file);
	if (!has_size && size == n_zeros) {
		g_assert_cmpuint(info->build_ids->len, ==, 0);
	} else {
		g_assert_cmpuint(info->build_ids->len, ==, 1);
		const LodePerfBuildId *entry = &g_array_index(info->build_ids, LodePerfBuildId, 0);
		g_assert_cmpint(entry->is_padded, ==, !has_size);
		check_build_id(
			entry->build_id, strlen(entry->build_id) / 2, size, n_zeros, !has_size);
	}
	g_assert_cmpuint(info->left_out.n_damaged_features, ==, 0);
	perf_data_file_clear(&parts);
}

/* Of each length, with its size and without, and with zeros at its own end. */
static void test_build_ids(void)
{
	for (size_t size = 1; size <= 20; size++)
		for (size_t n_zeros = 0; n_zeros <= size; n_zeros++)
			for (int has_size = 0; has_size < 2; has_size++)
				check_header_build_id(size, n_zeros, has_size != 0);
	PerfDataFile parts;
	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	for (size_t i = 0; i < 40; i++)
		put_mapping_with_build_id(&parts.data, 1 + i / 2, i % 2 != 0);
	g_autoptr(LodePerfData) file = open_file(&parts);
	for (size_t i = 0; i < 40; i++) {
		const LodePerfMapping *mapping = &next(file)->mapping;
		g_autoptr(GString) hex = g_string_new(NULL);
		for (size_t j = 0; j < mapping->build_id_size; j++)
			g_string_append_printf(hex, "%02x", mapping->build_id[j]);
		g_assert_cmpint(mapping->is_build_id_padded, ==, i % 2 == 0);
		check_build_id(hex->str, mapping->build_id_size, 1 + i / 2, 0, i % 2 == 0);
	}
	perf_data_file_clear(&parts);
}

/* In the header, in that of a big-endian machine with long of 32 bits, in a pipe. */
static void test_features(void)
{
	for (int i = 0; i < 4; i++) {
		PerfDataFile parts;
		perf_data_file_init(&parts, i == 1 || i == 2, i == 3);
		parts.has_long_of_32_bits = i == 1;
		add_attribute(&parts, COMMON, 0);
		put_features(&parts);
		put_sample(&parts.data, 1);
		g_autoptr(LodePerfData) file = open_file(&parts);
		g_assert_nonnull(next(file));
		g_assert_null(next(file));
		check_features(file);
		perf_data_file_clear(&parts);
	}
}

/* --- files that are kept --- */

enum { FEATURE_FILES = 254, CONTENT_BYTES = 300000 };

/* What the files of a section are made of, for variants that are damaged. */
typedef struct {
	uint32_t version, n_entries, build_id_size, entry_bytes;
	uint64_t index_bytes, size, content_offset, content_bytes;
	const char *damage; /* what unpacking says; NULL: nothing */
	unsigned n_files;
} KeptFile;

static void fill_content(char *content)
{
	for (size_t i = 0; i < CONTENT_BYTES; i++)
		content[i] = (char)(i * i >> 7);
}

static size_t put_kept_file(PerfDataFile *parts, const KeptFile *kept)
{
	PerfDataWriter *out = perf_data_file_feature(parts, FEATURE_FILES);
	g_autofree char *content = g_malloc(CONTENT_BYTES);
	g_autofree char *compressed = g_malloc(ZSTD_compressBound(CONTENT_BYTES));

	fill_content(content);
	size_t n = ZSTD_compress(
		compressed, ZSTD_compressBound(CONTENT_BYTES), content, CONTENT_BYTES, 1);
	put32(out, kept->version);
	put32(out, kept->n_entries);
	put64(out, kept->index_bytes);
	put32(out, kept->entry_bytes);
	put32(out, kept->build_id_size);
	put32(out, 8);
	put32(out, 3);
	put64(out, 4711);
	put64(out, UINT64_C(0x123456789));
	put64(out, kept->size);
	put64(out, kept->content_offset);
	put64(out, kept->content_bytes == UINT64_MAX ? n : kept->content_bytes);
	put64(out, 0);
	put32(out, 1);
	put_text(out, "/bin/a (deleted)");
	while (out->bytes->len < 16 + 104)
		put8(out, 0xee);
	/* an entry without content or build-id, of a kernel's page */
	put32(out, 72);
	for (unsigned i = 0; i < 15; i++)
		put32(out, 0);
	put_text(out, "[vdso]");
	g_byte_array_append(out->bytes, (const uint8_t *)compressed, (guint)n);
	return n;
}

static const KeptFile whole_file = {1, 2, 4, 104, 176, CONTENT_BYTES, 192, UINT64_MAX, NULL, 2};

static char *path_in(const char *folder)
{
	return g_build_filename(folder, "copy", NULL);
}

static void check_kept_file(LodePerfData *file, const KeptFile *kept)
{
	const LodePerfInfo *info = lode_perf_data_info(file);
	g_autoptr(GError) error = NULL;
	g_autofree char *folder = g_dir_make_tmp(NULL, NULL);
	g_autofree char *path = path_in(folder);
	g_autofree char *expected = g_malloc(CONTENT_BYTES);
	g_autofree char *content = NULL;
	gsize size;

	g_assert_cmpuint(info->files->len, ==, kept->n_files);
	g_assert_cmpuint(info->left_out.n_damaged_features + info->left_out.n_unknown_features, ==,
		kept->n_files < 2);
	for (guint i = 0; i < kept->n_files; i++) {
		const LodePerfFile *entry = &g_array_index(info->files, LodePerfFile, i);
		if (i == 1) {
			g_assert_cmpstr(entry->path, ==, "[vdso]");
			g_assert_null(entry->build_id);
			g_assert_cmpuint(entry->content_size, ==, 0);
			continue;
		}
		g_assert_cmpstr(entry->path, ==, "/bin/a (deleted)");
		g_assert_cmpuint(strlen(entry->build_id), ==, 8);
		g_assert_cmpuint(entry->device_major, ==, 8);
		g_assert_cmpuint(entry->device_minor, ==, 3);
		g_assert_cmpuint(entry->inode, ==, 4711);
		g_assert_cmpuint(entry->generation, ==, UINT64_C(0x123456789));
		bool is_whole = lode_perf_data_unpack(file, entry, path, &error);
		g_assert_cmpint(is_whole, ==, kept->damage == NULL);
		if (is_whole) {
			g_assert_true(g_file_get_contents(path, &content, &size, NULL));
			g_assert_cmpint(g_unlink(path), ==, 0);
			fill_content(expected);
			g_assert_cmpuint(size, ==, CONTENT_BYTES);
			g_assert_true(memcmp(content, expected, CONTENT_BYTES) == 0);
		} else {
			g_assert_nonnull(strstr(error->message, kept->damage));
			g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
		}
	}
	g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void check_kept_variant(const KeptFile *kept, bool is_big_endian)
{
	PerfDataFile parts;

	perf_data_file_init(&parts, is_big_endian, false);
	add_attribute(&parts, COMMON, 0);
	put_features(&parts);
	g_clear_pointer(&parts.features[9].bytes, g_byte_array_unref);
	put_kept_file(&parts, kept);
	put_sample(&parts.data, 1);
	g_autoptr(LodePerfData) file = open_file(&parts);
	g_assert_nonnull(next(file));
	g_assert_null(next(file));
	check_kept_file(file, kept);
	perf_data_file_clear(&parts);
}

static void test_kept_files(void)
{
	KeptFile kept;

	check_kept_variant(&whole_file, false);
	check_kept_variant(&whole_file, true);
	/* the index: of another version, longer than the section, shorter than its entries */
	kept = whole_file, kept.version = 2, kept.n_files = 0;
	check_kept_variant(&kept, false);
	kept = whole_file, kept.index_bytes = UINT64_MAX - 4, kept.n_files = 0;
	check_kept_variant(&kept, false);
	kept = whole_file, kept.index_bytes = 120, kept.n_files = 1;
	check_kept_variant(&kept, false);
	kept = whole_file, kept.entry_bytes = UINT32_MAX, kept.n_files = 0;
	check_kept_variant(&kept, false);
	kept = whole_file, kept.entry_bytes = 8, kept.n_files = 0;
	check_kept_variant(&kept, false);
	kept = whole_file, kept.build_id_size = 65, kept.n_files = 0;
	check_kept_variant(&kept, false);
	/* the content: outside the section, cut short, longer or shorter than is said */
	kept = whole_file, kept.content_offset = UINT64_MAX, kept.n_files = 0;
	check_kept_variant(&kept, false);
	kept = whole_file, kept.content_bytes = 1 << 30, kept.n_files = 0;
	check_kept_variant(&kept, false);
	kept = whole_file, kept.content_bytes = 100,
	kept.damage = "the copy of a file is cut short";
	check_kept_variant(&kept, false);
	kept = whole_file, kept.content_offset = 100, kept.damage = "the copy of a file is damaged";
	check_kept_variant(&kept, false);
	kept = whole_file, kept.size--, kept.damage = "the copy of a file is damaged";
	check_kept_variant(&kept, false);
	kept = whole_file, kept.size++, kept.damage = "the copy of a file is cut short";
	check_kept_variant(&kept, false);
	kept = whole_file, kept.size = UINT64_C(1) << 40;
	kept.damage = "the copies of files are larger than a recording keeps";
	check_kept_variant(&kept, false);
}

/* A small copy that claims to be large cannot be unpacked again and again. */
static void test_kept_limit(void)
{
	KeptFile kept = whole_file;
	PerfDataFile parts;

	kept.size = UINT64_C(512) << 20;
	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	put_kept_file(&parts, &kept);
	put_sample(&parts.data, 1);
	g_autoptr(LodePerfData) file = open_file(&parts);
	g_autofree char *folder = g_dir_make_tmp(NULL, NULL);
	g_autofree char *path = path_in(folder);
	const LodePerfFile *entry = &g_array_index(
		lode_perf_data_info(file)->files, LodePerfFile, 0);
	for (int i = 0; i < 3; i++) {
		g_autoptr(GError) error = NULL;
		g_assert_false(lode_perf_data_unpack(file, entry, path, &error));
		g_assert_cmpint(error->code, ==, i < 2 ? LODE_ERROR_CORRUPT : LODE_ERROR_LIMIT);
	}
	g_assert_cmpint(g_rmdir(folder), ==, 0);
	perf_data_file_clear(&parts);
}

/* --- logs of windows --- */

enum { FEATURE_WINDOWS = 253, LOG_BYTES = 70000 };

/* A section of three logs, the third left out; the fields say how the second is damaged. */
typedef struct {
	uint32_t version, n_logs;
	int64_t added_size, added_raw; /* to what is true */
	unsigned n_found, n_whole;     /* of the logs that are kept */
	uint32_t cut;                  /* bytes at the end */
	bool is_flipped;               /* a bit of its frame */
} WindowsSection;

static GBytes *make_log(unsigned number)
{
	uint8_t *content = g_malloc(LOG_BYTES * number);

	for (size_t i = 0; i < LOG_BYTES * number; i++)
		content[i] = (uint8_t)(i * i >> 7 ^ number);
	return g_bytes_new_take(content, LOG_BYTES * number);
}

static void put_log(PerfDataWriter *out, const WindowsSection *section, unsigned number)
{
	g_autoptr(GBytes) log = make_log(number);
	size_t raw_size;
	const void *raw = g_bytes_get_data(log, &raw_size);
	g_autofree char *frame = g_malloc(ZSTD_compressBound(raw_size));
	ZSTD_CCtx *context = ZSTD_createCCtx();
	bool is_second = number == 2;

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	size_t size = ZSTD_compress2(context, frame, ZSTD_compressBound(raw_size), raw, raw_size);
	ZSTD_freeCCtx(context);
	if (is_second && section->is_flipped)
		frame[size / 2] ^= 4;
	put64(out, size + (uint64_t)(is_second ? section->added_size : 0));
	put64(out, raw_size + (uint64_t)(is_second ? section->added_raw : 0));
	g_byte_array_append(out->bytes, (const guint8 *)frame, (guint)size);
	while (out->bytes->len % 8 != 0)
		put8(out, 0);
}

static void check_windows(WindowsSection section, bool is_big_endian)
{
	PerfDataFile parts;
	unsigned n_whole = 0;

	perf_data_file_init(&parts, is_big_endian, false);
	add_attribute(&parts, COMMON, 0);
	PerfDataWriter *out = perf_data_file_feature(&parts, FEATURE_WINDOWS);
	put32(out, section.version);
	put32(out, section.n_logs);
	put_log(out, &section, 1);
	put_log(out, &section, 2);
	put64(out, 0);
	put64(out, UINT64_C(1) << 40);
	g_byte_array_set_size(out->bytes, out->bytes->len - section.cut);
	put_sample(&parts.data, 1);
	g_autoptr(LodePerfData) file = open_file(&parts);
	const LodePerfInfo *info = lode_perf_data_info(file);
	g_assert_cmpuint(info->window_logs->len, ==, section.n_found);
	g_assert_cmpuint(info->left_out.n_damaged_features + info->left_out.n_unknown_features, ==,
		section.n_found < section.n_logs);
	for (guint i = 0; i < info->window_logs->len; i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GBytes) expected = make_log(i + 1);
		g_autoptr(GBytes) log = lode_perf_data_window_log(file, i, &error);
		g_assert_true((log == NULL) == (error != NULL));
		g_assert_true(log == NULL || g_bytes_equal(log, expected));
		if (i == 2)
			g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
		else if (log == NULL)
			g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		n_whole += log != NULL;
	}
	g_assert_cmpuint(n_whole, ==, section.n_whole);
	g_assert_nonnull(next(file));
	g_assert_null(next(file));
	perf_data_file_clear(&parts);
}

static void test_windows(void)
{
	WindowsSection section = {.version = 1, .n_logs = 3, .n_found = 3, .n_whole = 2};

	check_windows(section, false);
	check_windows(section, true);
	check_windows((WindowsSection){.version = 2, .n_logs = 3}, false);
	check_windows((WindowsSection){.version = 1, .n_logs = UINT32_MAX}, false);
	check_windows((WindowsSection){1, 4, 0, 0, 3, 2, 0, false}, false);
	/* a frame that is damaged, or has a wrong length; the logs before it stay */
	section.n_whole = 1;
	section.is_flipped = true, check_windows(section, false);
	section.is_flipped = false;
	section.added_raw = 1, check_windows(section, false);
	section.added_raw = -1, check_windows(section, false);
	section.added_raw = 0;
	section.n_found = 1;
	section.added_raw = INT64_C(1) << 30, check_windows(section, false);
	section.added_raw = 0;
	section.added_size = INT64_C(1) << 40, check_windows(section, false);
	section.added_size = INT64_MAX, check_windows(section, false);
}

/* A section that ends anywhere gives the logs before its end. */
static void test_windows_cut_short(void)
{
	WindowsSection section = {.version = 1, .n_logs = 3, .n_found = 2, .n_whole = 2};

	for (section.cut = 1; section.cut <= 16; section.cut++)
		check_windows(section, false);
	section.n_found = section.n_whole = 1;
	check_windows(section, false);
}

/* The program in a recorder's command line, as a shell would quote both; NULL: none is known. */
static void check_program(const char *line, const char *program)
{
	PerfDataFile parts;
	g_auto(GStrv) words = NULL;
	int n_words;

	g_assert_true(g_shell_parse_argv(line, &n_words, &words, NULL));
	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	PerfDataWriter *out = perf_data_file_feature(&parts, 11);
	put32(out, (uint32_t)n_words);
	for (int i = 0; i < n_words; i++)
		put_counted_text(out, words[i]);
	put_sample(&parts.data, 1);
	g_autoptr(LodePerfData) file = open_file(&parts);
	g_assert_nonnull(next(file));
	g_assert_cmpstr(lode_perf_data_info(file)->command, ==, line);
	g_assert_cmpstr(lode_perf_data_info(file)->program, ==, program);
	perf_data_file_clear(&parts);
}

static void test_programs(void)
{
	check_program("/usr/bin/perf record -o x -- ./a -p 1", "./a -p 1");
	check_program("perf record ./a b", "./a b");
	check_program(
		"perf record -g -F 99 -ecycles:u --call-graph dwarf 'a b' -- c", "'a b' -- c");
	check_program(
		"/opt/perf_6.1 record -gF max --event=cycles --intr-regs --switch-output=9 a", "a");
	check_program("perf record -I -z --count 5 --no-inherit -b a -e", "a -e");
	check_program("perf record -p 4711 sleep 10", NULL);
	check_program("perf record -ga -- sleep 10", NULL);
	check_program("perf record --pid=4711 -- sleep 10", NULL);
	check_program("perf record -e cycles --", NULL);
	check_program("perf record -e", NULL);
	check_program("perf stat record a", NULL);
	check_program("simpleperf record a", NULL);
}

static void check_name(const PerfDataAttribute *attribute, const char *name)
{
	PerfDataFile parts;
	size_t n_events;

	perf_data_file_init(&parts, false, false);
	parts.attributes[0] = *attribute;
	parts.n_attributes = 1;
	put_sample(&parts.data, 1);
	g_autoptr(LodePerfData) file = open_file(&parts);
	g_assert_cmpstr(lode_perf_data_events(file, &n_events)[0].name, ==, name);
	perf_data_file_clear(&parts);
}

/* As perf 6.1 names them. */
static void test_names(void)
{
	check_name(&(PerfDataAttribute){.type = 0, .config = 5}, "branch-misses");
	check_name(&(PerfDataAttribute){.type = 0, .flags = 3 << 15}, "cycles:ppp");
	check_name(&(PerfDataAttribute){.type = 1, .config = 2, .flags = 1 << 5 | 1 << 6},
		"page-faults:u");
	check_name(&(PerfDataAttribute){.type = 3, .config = 0x10000}, "L1-dcache-load-misses");
	check_name(&(PerfDataAttribute){.type = 3, .config = 0x102}, "LLC-stores");
	check_name(&(PerfDataAttribute){.type = 4, .config = 0xc4}, "raw 0xc4");
}

static LodeErrorCode failure(const GByteArray *bytes, char **out_message)
{
	g_autoptr(GError) error = NULL;
	const char *path = memory_file(bytes->data, bytes->len);
	g_autoptr(LodePerfData) file = lode_perf_data_open(path, &error);
	LodePerfNext got = LODE_PERF_NEXT_RECORD;
	LodePerfRecord record;

	while (file != NULL && got == LODE_PERF_NEXT_RECORD)
		got = lode_perf_data_next(file, &record, &error);
	g_assert_nonnull(error);
	g_assert_true(g_str_has_prefix(error->message, path));
	*out_message = g_strdup(error->message);
	return (LodeErrorCode)error->code;
}

static void check_damage(guint offset, uint8_t value, const char *message)
{
	PerfDataFile parts;
	g_autofree char *got = NULL;

	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	put_sample(&parts.data, 1);
	g_autoptr(GByteArray) bytes = perf_data_file_finish(&parts);
	g_assert_cmpuint(offset, <, bytes->len);
	bytes->data[offset] = value;
	g_assert_cmpint(failure(bytes, &got), ==, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(got, message));
	perf_data_file_clear(&parts);
}

/* What its samples point at: the next instruction, or the one itself. */
static void test_late(void)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
		uint8_t precise;
		bool is_late;
	} rows[] = {
		{"cpu-clock:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, true},
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, true},
		{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, false},
		{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 0, false},
		{"cycles:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, true},
		{"cycles:p", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1, false},
		{"cycles:ppp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 3, false},
		{"LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002, 0, true},
		{"raw 0x1cd", PERF_TYPE_RAW, 0x1cd, 0, true},
		{"cpu/mem-loads,ldlat=30/P", PERF_TYPE_RAW, 0x1cd, 3, false},
		{"cpu_atom/cycles/", 10, 0x3c, 0, true},
		{"ibs_op//", 11, 0, 0, false},
		{"arm_spe_0/ts_enable=1/", 12, 0, 0, false},
		{"probe:malloc", 8, 0, 0, false},
		{"sched:sched_switch", PERF_TYPE_TRACEPOINT, 300, 0, false},
		{"mem:0x1000:rw", PERF_TYPE_BREAKPOINT, 0, 0, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const LodePerfEvent event = {.name = rows[i].name,
			.type = rows[i].type,
			.config = rows[i].config,
			.precise = rows[i].precise};
		g_test_message("%s", rows[i].name);
		g_assert_cmpint(lode_perf_event_is_late(&event), ==, rows[i].is_late);
	}
}

static void test_damage(void)
{
	const guint data = 104 + 128 + 16 + 16;

	check_damage(0, 'X', "not a perf.data file");
	check_damage(8, 3, "at offset 8: a header of impossible size");
	check_damage(16, 8, "attributes too short");
	check_damage(31, 1, "attributes outside the file");
	check_damage(55, 1, "cut short: the data ends");
	check_damage(108, 3, "at offset 104: an attribute of wrong size");
	check_damage(104 + 128 + 7, 1, "ids of an event outside the file");
	check_damage(data + 6, 7, "at offset 264: a record shorter than its own header");
	check_damage(data + 6, 41, "at offset 264: the last record is longer than the data");
	check_damage(data + 6, 39, "at offset 264: a sample shorter than its fields");
}

static void put_chained(
	PerfDataWriter *data, uint32_t tid, uint64_t time_ns, const uint64_t *chain, unsigned n)
{
	begin_record(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(data, 0x1000);
	put32(data, 7);
	put32(data, tid);
	put64(data, time_ns);
	put64(data, n);
	for (unsigned i = 0; i < n; i++)
		put64(data, chain[i]);
	end_record(data);
}

static void put_deferred(PerfDataWriter *data, uint32_t tid, uint64_t time_ns, uint64_t cookie,
	const uint64_t *chain, unsigned n)
{
	begin_record(data, 22, PERF_RECORD_MISC_USER);
	put64(data, cookie);
	put64(data, n);
	for (unsigned i = 0; i < n; i++)
		put64(data, chain[i]);
	put32(data, 7);
	put32(data, tid);
	put64(data, time_ns);
	end_record(data);
}

static void check_chain(const LodePerfRecord *record, const uint64_t *chain, size_t n)
{
	g_assert_nonnull(record);
	g_assert_cmpuint(record->sample.n_callchain, ==, n);
	for (size_t i = 0; i < n; i++)
		g_assert_cmphex(record->sample.callchain[i], ==, chain[i]);
}

/* User frames come after their samples: one record for two samples of a thread, a cookie that comes
 * again, the same one of another thread, and frames or a sample that are not there. */
static void test_deferred_chains(void)
{
	const uint64_t user = (uint64_t)PERF_CONTEXT_USER, later = (uint64_t)-640;
	const uint64_t kernel = (uint64_t)PERF_CONTEXT_KERNEL;
	const uint64_t plain[] = {later, 5}, entered[] = {kernel, 0xff, later, 5};
	const uint64_t missing[] = {later, 6}, cut[] = {later};
	const uint64_t first[] = {user, 0x10, 0x11}, second[] = {0x20, 0x21};
	const uint64_t joined[] = {kernel, 0xff, user, 0x10, 0x11}, marked[] = {user, 0x20, 0x21};

	for (int i = 0; i < 2; i++) {
		PerfDataFile parts;
		perf_data_file_init(&parts, i == 1, false);
		add_attribute(&parts,
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
			0);
		/* that of a second CPU, whose records stand before those of the first */
		put_deferred(&parts.data, 8, 400, 5, second, 2);
		put_chained(&parts.data, 8, 100, plain, 2);
		put_chained(&parts.data, 8, 110, entered, 4);
		put_deferred(&parts.data, 8, 120, 5, first, 3);
		put_chained(&parts.data, 9, 130, plain, 2);
		put_deferred(&parts.data, 9, 140, 5, second, 2);
		put_chained(&parts.data, 8, 390, plain, 2);
		put_chained(&parts.data, 8, 395, missing, 2);
		put_chained(&parts.data, 8, 396, cut, 1);
		put_deferred(&parts.data, 8, 500, 77, first, 3);
		g_autoptr(LodePerfData) file = open_file(&parts);
		lode_perf_data_skip_samples(file, true);
		g_assert_null(next(file));
		lode_perf_data_rewind(file);
		lode_perf_data_skip_samples(file, false);
		check_chain(next(file), first, 3);
		check_chain(next(file), joined, 5);
		check_chain(next(file), marked, 3);
		check_chain(next(file), marked, 3);
		check_chain(next(file), missing, 2);
		check_chain(next(file), cut, 1);
		g_assert_null(next(file));
		const LodePerfInfo *info = lode_perf_data_info(file);
		g_assert_cmpuint(info->left_out.n_missing_chains, ==, 2);
		g_assert_cmpuint(info->left_out.n_unused_chains, ==, 1);
		g_assert_cmpuint(info->left_out.skipped->len, ==, 0);
		perf_data_file_clear(&parts);
	}
}

static void put_empty(PerfDataWriter *data, uint32_t type)
{
	begin_record(data, type, 0);
	put64(data, 0);
	end_record(data);
}

/* Each type of records that are not read is counted, once in two readings. */
static void test_skipped(void)
{
	PerfDataFile parts;

	perf_data_file_init(&parts, false, false);
	add_attribute(&parts, COMMON, 0);
	put_empty(&parts.data, PERF_RECORD_KSYMBOL);
	put_empty(&parts.data, 68); /* FINISHED_ROUND */
	put_empty(&parts.data, 99);
	put_empty(&parts.data, PERF_RECORD_KSYMBOL);
	g_autoptr(LodePerfData) file = open_file(&parts);
	for (int i = 0; i < 2; i++) {
		g_assert_null(next(file));
		lode_perf_data_rewind(file);
	}
	const GArray *skipped = lode_perf_data_info(file)->left_out.skipped;
	g_assert_cmpuint(skipped->len, ==, 2);
	g_assert_cmpuint(g_array_index(skipped, LodePerfSkipped, 0).type, ==, PERF_RECORD_KSYMBOL);
	g_assert_cmpuint(g_array_index(skipped, LodePerfSkipped, 0).n, ==, 2);
	g_assert_cmpuint(g_array_index(skipped, LodePerfSkipped, 1).type, ==, 99);
	g_assert_cmpstr(lode_perf_data_record_name(PERF_RECORD_KSYMBOL), ==, "KSYMBOL");
	g_assert_null(lode_perf_data_record_name(99));
	perf_data_file_clear(&parts);
}

/* The data that a file is cut to lack is missed, wherever the cut is. */
static void test_cuts(void)
{
	PerfDataFile parts;

	init_every_field(&parts, false, false);
	put_features(&parts);
	g_autoptr(GByteArray) bytes = perf_data_file_finish(&parts);
	guint end_of_data = 104 + 144 + 16 + parts.data.bytes->len;
	for (guint size = bytes->len; size-- > 0;) {
		g_autoptr(GByteArray) cut = g_byte_array_new();
		g_byte_array_append(cut, bytes->data, size);
		g_autofree char *message = NULL;
		if (size < end_of_data)
			g_assert_cmpint(failure(cut, &message), ==, LODE_ERROR_CORRUPT);
		else
			lode_perf_data_close(open_bytes(cut));
	}
	perf_data_file_clear(&parts);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/perf-data/every-field", test_every_field);
	g_test_add_func("/perf-data/two-events", test_two_events);
	g_test_add_func("/perf-data/kernel-records", test_kernel_records);
	g_test_add_func("/perf-data/compressed", test_compressed);
	g_test_add_func("/perf-data/compressed-far", test_compressed_far);
	g_test_add_func("/perf-data/expansion", test_expansion);
	g_test_add_func("/perf-data/cut-while-read", test_cut_while_read);
	g_test_add_func("/perf-data/crash", test_crash);
	g_test_add_func("/perf-data/newer", test_newer);
	g_test_add_func("/perf-data/older", test_older);
	g_test_add_func("/perf-data/payloads", test_payloads);
	g_test_add_func("/perf-data/simpleperf", test_simpleperf);
	g_test_add_func("/perf-data/directory", test_directory);
	g_test_add_func("/perf-data/part-of-directory", test_part_of_directory);
	g_test_add_func("/perf-data/features", test_features);
	g_test_add_func("/perf-data/build-ids", test_build_ids);
	g_test_add_func("/perf-data/kept-files", test_kept_files);
	g_test_add_func("/perf-data/kept-limit", test_kept_limit);
	g_test_add_func("/perf-data/windows", test_windows);
	g_test_add_func("/perf-data/windows-cut-short", test_windows_cut_short);
	g_test_add_func("/perf-data/programs", test_programs);
	g_test_add_func("/perf-data/names", test_names);
	g_test_add_func("/perf-data/deferred-chains", test_deferred_chains);
	g_test_add_func("/perf-data/skipped", test_skipped);
	g_test_add_func("/perf-data/late", test_late);
	g_test_add_func("/perf-data/damage", test_damage);
	g_test_add_func("/perf-data/cuts", test_cuts);
	return g_test_run();
}
