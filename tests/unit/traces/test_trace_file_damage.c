/* SPDX-License-Identifier: MIT */
/*
 * Damaged files: cut at every byte, every bit flipped. Frames in front of the damage are read as
 * they were written, and the damage is told, with its place.
 */
#include "seeds.h"
#include "trace_file_check.h"
#include "trace_samples.h"

#include "base/error.h"
#include "traces/rps/rps_format.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

enum { N_REFERENCES = 240, FRAME_REFERENCES = 80, MAX_FRAMES = 16 };

typedef struct {
	char *path;
	char *bytes; /* of the whole file */
	size_t size;
	GArray *references;
	uint64_t frame_ends[MAX_FRAMES];     /* in the file */
	uint64_t reference_ends[MAX_FRAMES]; /* references up to there */
	uint64_t n_frames;
} Sample;

static void note_frames(Sample *self)
{
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(self->path, NULL, NULL);

	self->n_frames = lode_trace_reader_n_frames(reader);
	g_assert_cmpuint(self->n_frames, >, 2);
	g_assert_cmpuint(self->n_frames, <=, MAX_FRAMES);
	for (uint64_t i = 0; i < self->n_frames; i++) {
		LodeTraceFrameInfo info;

		g_assert_true(lode_trace_reader_frame_info(reader, i, &info, NULL));
		self->frame_ends[i] = info.offset + info.bytes;
		self->reference_ends[i] = info.head.first_reference + info.head.n_references;
	}
}

static void sample_init(Sample *self, const char *name)
{
	LodeTraceWriterOptions options = {
		.threads = 2, .frame_references = FRAME_REFERENCES, .level = LODE_TRACE_LEVEL_FAST};

	self->path = lode_new_trace_path();
	self->references = lode_trace_sample(name, N_REFERENCES, 1);
	lode_write_trace(self->path, self->references, &options);
	g_assert_true(g_file_get_contents(self->path, &self->bytes, &self->size, NULL));
	note_frames(self);
}

static void sample_clear(Sample *self)
{
	lode_remove_trace(self->path);
	g_array_unref(self->references);
	g_free(self->bytes);
	g_free(self->path);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
	FILE *file = g_fopen(path, "w");

	g_assert_nonnull(file);
	g_assert_cmpuint(fwrite(bytes, 1, size, file), ==, size);
	fclose(file);
}

static void put_byte(const char *path, size_t at, char byte)
{
	int descriptor = open(path, O_WRONLY | O_CLOEXEC);

	g_assert_cmpint(pwrite(descriptor, &byte, 1, (off_t)at), ==, 1);
	close(descriptor);
}

/* What became of a file. */
typedef struct {
	uint64_t n_references; /* read, all as they were written */
	char *told;            /* of damage or error; NULL: nothing */
	bool is_open;
} Outcome;

static void outcome_clear(Outcome *self)
{
	g_free(self->told);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

static Outcome read_file(const Sample *sample)
{
	g_autoptr(GError) error = NULL;
	LodeTraceReaderOptions options = {.threads = 1};
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(sample->path, &options, &error);
	Outcome outcome = {.is_open = reader != NULL};

	g_assert_true((reader == NULL) == (error != NULL));
	if (reader != NULL) {
		g_autoptr(GArray) read = lode_read_trace(reader, &error);

		lode_assert_references(read, sample->references, 0);
		outcome.n_references = read->len;
		outcome.told = g_strdup(lode_trace_reader_damage(reader));
	}
	if (error != NULL) {
		g_assert_true(g_str_has_prefix(error->message, sample->path));
		g_free(outcome.told);
		outcome.told = g_strdup(error->message + strlen(sample->path));
	}
	return outcome;
}

static uint64_t whole_references(const Sample *sample, uint64_t size)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < sample->n_frames; i++) {
		if (sample->frame_ends[i] <= size)
			n = sample->reference_ends[i];
	}
	return n;
}

/* Which bytes are hurt, one after the other: each, or where tests are to be short every third. */
static size_t byte_step(void)
{
	return 3 / random_rounds(3, 3);
}

static void test_cut(const void *name)
{
	Sample sample;

	sample_init(&sample, name);
	for (size_t size = sample.size; size-- > 0;) {
		if (size % byte_step() != 0)
			continue;
		g_assert_cmpint(truncate(sample.path, (off_t)size), ==, 0);
		g_auto(Outcome) outcome = read_file(&sample);

		g_assert_cmpint(outcome.is_open, ==, size >= LODE_RPS_HEADER_BYTES);
		g_assert_nonnull(outcome.told);
		/* a description cut short at the end leaves all frames */
		if (outcome.n_references != whole_references(&sample, size))
			g_error("cut at %zu: %" G_GUINT64_FORMAT " references", size,
				outcome.n_references);
	}
	sample_clear(&sample);
}

/* The frame that has the byte; the number of frames when none has. */
static uint64_t frame_of(const Sample *sample, size_t at)
{
	for (uint64_t i = 0; i < sample->n_frames; i++) {
		uint64_t start = i > 0 ? sample->frame_ends[i - 1] : 0;

		if (at >= start && at < sample->frame_ends[i])
			return i;
	}
	return sample->n_frames;
}

static bool is_located(const Sample *sample, uint64_t frame, size_t at, const char *told)
{
	g_autofree char *place = g_strdup_printf(": frame %" G_GUINT64_FORMAT " at offset ", frame);

	/* in front of the first frame stand the header and a description */
	if (frame == sample->n_frames || strstr(told, "description at offset ") != NULL ||
		at < LODE_RPS_HEADER_BYTES)
		return true;
	return strstr(told, place) != NULL;
}

static void check_flip(const Sample *sample, size_t at, unsigned bit)
{
	uint64_t frame = frame_of(sample, at);

	put_byte(sample->path, at, (char)(sample->bytes[at] ^ 1 << bit));
	g_auto(Outcome) outcome = read_file(sample);
	put_byte(sample->path, at, sample->bytes[at]);
	if (outcome.told == NULL)
		g_error("bit %u of byte %zu: nobody noticed", bit, at);
	if (!is_located(sample, frame, at, outcome.told))
		g_error("bit %u of byte %zu, frame %" G_GUINT64_FORMAT ": '%s'", bit, at, frame,
			outcome.told);
	/* what is in front of the frame is there; and where none is hurt, all */
	if (outcome.is_open &&
		outcome.n_references < (frame > 0 ? sample->reference_ends[frame - 1] : 0))
		g_error("bit %u of byte %zu: only %" G_GUINT64_FORMAT " references", bit, at,
			outcome.n_references);
}

static void test_flip_each(void)
{
	const unsigned n_bits = random_rounds(3, 8); /* of each byte, not always the same ones */
	Sample sample;

	sample_init(&sample, "program");
	for (size_t at = 0; at < sample.size; at++) {
		for (unsigned i = 0; i < n_bits; i++)
			check_flip(&sample, at, (unsigned)(at + i * 8 / n_bits) % 8);
	}
	sample_clear(&sample);
}

/* One bit of each byte. */
static void test_flip_some(const void *name)
{
	Sample sample;

	sample_init(&sample, name);
	for (size_t at = 0; at < sample.size; at += byte_step())
		check_flip(&sample, at, (unsigned)at % 8);
	sample_clear(&sample);
}

/* Frames behind the damage can be read, where they do not need what is lost. */
static void test_behind_damage(void)
{
	g_autoptr(GError) error = NULL;
	Sample sample;

	sample_init(&sample, "program");
	/* the last byte of a frame is one of its sequence or its slots, not of its dictionary */
	sample.bytes[sample.frame_ends[1] - 1] ^= 1;
	write_file(sample.path, sample.bytes, sample.size);
	const LodeTraceRange range = {.first = sample.reference_ends[1], .count = UINT64_MAX};
	const LodeTraceReaderOptions options = {.range = &range};
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(sample.path, &options, &error);
	g_assert_no_error(error);
	g_autoptr(GArray) read = lode_read_trace(reader, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(read->len, ==,
		N_REFERENCES - sample.reference_ends[1] + (sample.references->len - N_REFERENCES));
	lode_assert_references(read, sample.references, sample.reference_ends[1]);
	sample_clear(&sample);
}

static void assert_blocks_lost(LodeTraceReader *reader, uint64_t frame)
{
	g_autoptr(GArray) counts = g_array_new(FALSE, TRUE, sizeof(LodeSlotClassCount));
	g_autoptr(GError) error = NULL;

	g_assert_false(lode_trace_reader_count_classes(reader, frame, counts, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
}

/* Where blocks are lost, each frame behind says so. If they were looked for each time, the test
 * would run into its time limit. */
static void test_many_behind_damage(void)
{
	enum { N = 40000, EACH = 40, DAMAGED = N / EACH / 2 };
	const unsigned n_rounds = random_rounds(100, 1000);
	LodeTraceWriterOptions options = {.threads = 2, .frame_references = EACH};
	g_autofree char *path = lode_new_trace_path(), *bytes = NULL;
	g_autoptr(GArray) references = lode_trace_sample("program", N, 1);
	LodeTraceFrameInfo info;
	size_t size;

	lode_write_trace(path, references, &options);
	g_autoptr(LodeTraceReader) whole = lode_trace_reader_open(path, NULL, NULL);
	g_assert_true(lode_trace_reader_frame_info(whole, DAMAGED, &info, NULL));
	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	bytes[info.offset + LODE_RPS_SECTION_HEADER_BYTES] ^= 1;
	write_file(path, bytes, size);
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, NULL);
	for (unsigned round = 0; round < n_rounds; round++)
		for (uint64_t i = DAMAGED; i < lode_trace_reader_n_frames(reader); i++)
			assert_blocks_lost(reader, i);
	lode_remove_trace(path);
}

static void test_more_behind(void)
{
	Sample sample;

	sample_init(&sample, "program");
	g_autofree char *longer = g_malloc0(sample.size + 100);
	memcpy(longer, sample.bytes, sample.size);
	write_file(sample.path, longer, sample.size + 100);
	g_auto(Outcome) outcome = read_file(&sample);
	g_assert_nonnull(outcome.told);
	g_assert_cmpuint(outcome.n_references, ==, sample.references->len);
	sample_clear(&sample);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/traces/damage/cut", "program", test_cut);
	g_test_add_data_func("/traces/damage/cut-plain", "wild", test_cut);
	g_test_add_func("/traces/damage/flip", test_flip_each);
	g_test_add_data_func("/traces/damage/flip-threads", "threads", test_flip_some);
	g_test_add_data_func("/traces/damage/flip-plain", "wild", test_flip_some);
	g_test_add_func("/traces/damage/behind", test_behind_damage);
	g_test_add_func("/traces/damage/many-behind", test_many_behind_damage);
	g_test_add_func("/traces/damage/more-behind", test_more_behind);
	return g_test_run();
}
