/* SPDX-License-Identifier: MIT */
/* Sums of samples and branch stacks against sums in plain tables, on random stacks. */
#include "base/error.h"
#include "ingest/sampled/sampled_rows.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "seeds.h"

#include <string.h>

enum { CASES = 400, OBJECTS = 2, ADDRESSES = 10, PLACES = OBJECTS * ADDRESSES, COLUMNS = 3 };

static const uint64_t FAR = 1 << 21; /* further than any range is long */

/* The same in tables, by number of place. */
typedef struct {
	double values[PLACES][COLUMNS];
	bool is_row[PLACES];
	double branches[PLACES][PLACES], ranges[PLACES][PLACES], newest[PLACES];
	double broken, estimated, unknown;
} Naive;

static LodeCodeImages *new_images(void)
{
	LodeCodeImages *images = lode_code_images_new(NULL, false);

	for (char name[] = "/a"; name[1] < 'a' + OBJECTS; name[1]++)
		lode_code_images_add(images, &(LodeImageIdentity){.path = name});
	return images;
}

static LodePlace place_of(unsigned number)
{
	unsigned address = number % ADDRESSES;

	/* The last address is far from the others. */
	return (LodePlace){
		number / ADDRESSES, 0x1000 + 4 * address + (address == ADDRESSES - 1 ? FAR : 0)};
}

static unsigned number_of(uint32_t object, uint64_t address)
{
	uint64_t offset = address - 0x1000;

	g_assert_cmpuint(object, <, OBJECTS);
	g_assert_cmpuint(offset % 4, ==, 0);
	return (unsigned)(object * ADDRESSES + (offset > FAR ? offset - FAR : offset) / 4);
}

static unsigned random_place(GRand *rand)
{
	/* Rarely in the other object. */
	return (unsigned)g_rand_int_range(rand, 0, ADDRESSES) +
	       (g_rand_int_range(rand, 0, 5) == 0 ? ADDRESSES : 0);
}

static bool is_broken(unsigned first, unsigned last)
{
	LodePlace from = place_of(first), to = place_of(last);

	return from.image != to.image || to.address < from.address ||
	       to.address - from.address > FAR / 2;
}

static void add_range(LodeSampledRows *rows, Naive *naive, unsigned first, unsigned last)
{
	const LodePlace from = place_of(first), to = place_of(last);

	lode_sampled_rows_add_range(rows, &from, &to);
	if (is_broken(first, last))
		naive->broken++;
	else
		naive->ranges[first][last]++;
}

/* As a sample has it: newest first, a range between each two. */
static void add_stack(LodeSampledRows *rows, Naive *naive, GRand *rand)
{
	int n = g_rand_int_range(rand, 0, 6);
	unsigned newer_source = 0;

	for (int i = 0; i < n; i++) {
		unsigned source = random_place(rand), target = random_place(rand);
		const LodePlace from = place_of(source), to = place_of(target);
		lode_sampled_rows_add_branch(rows, &from, &to);
		naive->branches[source][target]++;
		if (i == 0) {
			lode_sampled_rows_add_newest(rows, &to);
			naive->newest[target]++;
		} else {
			add_range(rows, naive, target, newer_source);
		}
		newer_source = source;
	}
}

static void add_sample(LodeSampledRows *rows, Naive *naive, GRand *rand)
{
	unsigned number = random_place(rand);
	const LodePlace place = place_of(number);
	uint32_t column = (uint32_t)g_rand_int_range(rand, 1, COLUMNS);
	double value = g_rand_int_range(rand, 0, 1000);

	lode_sampled_rows_add(rows, lode_sampled_rows_find(rows, &place), column, value);
	naive->values[number][column] += value;
	naive->is_row[number] = true;
}

/* Shares the newest ranges out over those measured from the same place. */
static void estimate(Naive *self)
{
	for (unsigned first = 0; first < PLACES; first++) {
		double sum = 0;
		for (unsigned last = 0; last < PLACES; last++)
			sum += self->ranges[first][last];
		*(sum > 0 ? &self->estimated : &self->unknown) += self->newest[first];
		for (unsigned last = 0; last < PLACES && sum > 0; last++)
			self->ranges[first][last] += self->newest[first] *
			                             self->ranges[first][last] / sum;
	}
}

static void check_values(const LodeRecording *recording, const Naive *naive)
{
	unsigned n = 0, before = 0;

	for (unsigned i = 0; i < PLACES; i++)
		n += naive->is_row[i];
	g_assert_cmpuint(recording->instructions->len, ==, n);
	for (guint i = 0; i < n; i++) {
		const LodeRecordedInstruction *row = &g_array_index(
			recording->instructions, LodeRecordedInstruction, i);
		unsigned number = number_of(row->object, row->address);
		g_assert_true(i == 0 || number > before);
		g_assert_true(naive->is_row[number]);
		g_assert_cmpuint(row->n_values, ==, COLUMNS);
		for (unsigned column = 0; column < COLUMNS; column++)
			g_assert_cmpfloat(recording->values[row->first_value + column], ==,
				naive->values[number][column]);
		before = number;
	}
}

static void check_branches(const LodeRecording *recording, const Naive *naive)
{
	double sum = 0, found = 0;

	for (unsigned i = 0; i < PLACES; i++)
		for (unsigned j = 0; j < PLACES; j++)
			sum += naive->branches[i][j];
	for (guint i = 0; i < recording->jumps->len; i++) {
		const LodeRecordedJump *jump = &g_array_index(
			recording->jumps, LodeRecordedJump, i);
		unsigned source = number_of(jump->object, jump->source);
		unsigned target = number_of(jump->target_object, jump->target);
		g_assert_cmpfloat(jump->taken, ==, naive->branches[source][target]);
		g_assert_true(i == 0 || jump[-1].object < jump->object ||
			      (jump[-1].object == jump->object && jump[-1].source <= jump->source));
		found += jump->taken;
	}
	g_assert_cmpfloat(found, ==, sum);
}

static void check_ranges(const LodeRecording *recording, const Naive *naive)
{
	double sum = 0, found = 0;

	for (unsigned i = 0; i < PLACES; i++)
		for (unsigned j = 0; j < PLACES; j++)
			sum += naive->ranges[i][j];
	for (guint i = 0; i < recording->ranges->len; i++) {
		const LodeRecordedRange *range = &g_array_index(
			recording->ranges, LodeRecordedRange, i);
		unsigned first = number_of(range->object, range->first);
		unsigned last = number_of(range->object, range->last);
		g_assert_cmpfloat_with_epsilon(range->count, naive->ranges[first][last], 1e-9);
		g_assert_true(i == 0 || range[-1].object < range->object ||
			      range[-1].first < range->first ||
			      (range[-1].first == range->first && range[-1].last < range->last));
		found += range->count;
	}
	g_assert_cmpfloat_with_epsilon(found, sum, 1e-9);
}

static double accounted(const LodeRecording *recording, const char *word)
{
	for (guint i = 0; i < recording->unresolved->len; i++) {
		const LodeUnresolved *row = &g_array_index(
			recording->unresolved, LodeUnresolved, i);
		if (strstr(row->reason, word) != NULL)
			return row->samples;
	}
	return 0;
}

static void check_case(GRand *rand)
{
	g_autoptr(LodeRecording) recording = lode_recording_new();
	g_autoptr(LodeCodeImages) images = new_images();
	g_autoptr(GError) error = NULL;
	LodeSampledRows rows;
	Naive naive = {0};

	for (unsigned i = 0; i < COLUMNS - 1; i++)
		g_ptr_array_add(recording->events, (char *)"event");
	lode_sampled_rows_init(&rows, recording, images);
	g_ptr_array_add(recording->events, (char *)"event that comes later");
	for (uint32_t i = 0; i < OBJECTS; i++)
		g_assert_cmpuint(lode_code_images_object_of(images, recording, i), ==, i);
	for (int n = g_rand_int_range(rand, 0, 60); n > 0; n--) {
		add_stack(&rows, &naive, rand);
		add_sample(&rows, &naive, rand);
	}
	g_assert_true(lode_sampled_rows_finish(&rows, &error));
	g_assert_no_error(error);
	lode_sampled_rows_clear(&rows);
	estimate(&naive);
	check_values(recording, &naive);
	check_branches(recording, &naive);
	check_ranges(recording, &naive);
	g_assert_cmpfloat(accounted(recording, "broken"), ==, naive.broken);
	g_assert_cmpfloat(accounted(recording, "estimated"), ==, naive.estimated);
	g_assert_cmpfloat(accounted(recording, "unknown"), ==, naive.unknown);
}

static void test_random(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(12));

	for (unsigned i = 0; i < CASES; i++)
		check_case(rand);
}

/* 3 of 4 ranges from one place were long; so are 3 of 4 of those that were cut off there. */
static void test_proportion(void)
{
	g_autoptr(LodeRecording) recording = lode_recording_new();
	g_autoptr(LodeCodeImages) images = new_images();
	const LodePlace first = place_of(0), near = place_of(1), far = place_of(5);
	const LodePlace elsewhere = place_of(2);
	LodeSampledRows rows;

	g_ptr_array_add(recording->events, (char *)"event");
	lode_sampled_rows_init(&rows, recording, images);
	lode_sampled_rows_add_range(&rows, &first, &near);
	for (int i = 0; i < 3; i++)
		lode_sampled_rows_add_range(&rows, &first, &far);
	for (int i = 0; i < 8; i++)
		lode_sampled_rows_add_newest(&rows, &first);
	lode_sampled_rows_add_newest(&rows, &elsewhere);
	g_assert_true(lode_sampled_rows_finish(&rows, NULL));
	lode_sampled_rows_clear(&rows);
	g_assert_cmpuint(recording->ranges->len, ==, 2);
	g_assert_cmpfloat(g_array_index(recording->ranges, LodeRecordedRange, 0).count, ==, 1 + 2);
	g_assert_cmpfloat(g_array_index(recording->ranges, LodeRecordedRange, 1).count, ==, 3 + 6);
	g_assert_cmpfloat(accounted(recording, "estimated"), ==, 8);
	g_assert_cmpfloat(accounted(recording, "unknown"), ==, 1);
}

static LodeRecording *new_recording(void)
{
	LodeRecording *recording = lode_recording_new();
	double zero = 0;

	for (int i = 0; i < COLUMNS; i++) {
		g_ptr_array_add(recording->events, (char *)"event");
		g_array_append_val(recording->totals, zero);
	}
	return recording;
}

/* Distinct branches and ranges are limited; the recording is refused, not cut. */
static void test_too_many_spans(void)
{
	for (unsigned n = 2; n <= 4; n++) {
		g_autoptr(LodeRecording) recording = new_recording();
		g_autoptr(LodeCodeImages) images = new_images();
		g_autoptr(GError) error = NULL;
		LodeSampledRows rows;

		lode_sampled_rows_init(&rows, recording, images);
		rows.max_spans = 3;
		for (unsigned i = 0; i < n; i++) {
			const LodePlace from = place_of(0), to = place_of(i);
			lode_sampled_rows_add_branch(&rows, &from, &to);
			lode_sampled_rows_add_range(&rows, &from, &to);
		}
		g_assert_cmpuint(recording->jumps->len, <=, 3);
		g_assert_cmpuint(recording->ranges->len, <=, 3);
		if (n <= 3) {
			g_assert_true(lode_sampled_rows_finish(&rows, &error));
			g_assert_no_error(error);
		} else {
			g_assert_false(lode_sampled_rows_finish(&rows, &error));
			g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
		}
		lode_sampled_rows_clear(&rows);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sampled-rows/random", test_random);
	g_test_add_func("/sampled-rows/proportion", test_proportion);
	g_test_add_func("/sampled-rows/too-many-spans", test_too_many_spans);
	return g_test_run();
}
