/* SPDX-License-Identifier: MIT */
/*
 * One run, looked at twice: by an import, and record by record as the live picture sees it. Both
 * show the same shares, by page, by reason and by object: types by the instruction, and where the
 * memory was allocated.
 */
#include "ingest/import.h"
#include "ingest/live/live_addresses.h"
#include "model/memory.h"
#include "model/profile.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

/* The header of a perf.data file and an entry of its attributes, as in perf_data_header.c. */
typedef struct {
	uint64_t offset, size;
} Section;

typedef struct {
	char magic[8];
	uint64_t size, attribute_size;
	Section attributes, data;
} FileHeader;

/* Weights by what is counted; names begin with what they are of. */
typedef struct {
	GHashTable *weights; /* text → double * */
	double total;
} Shares;

static void shares_init(Shares *self)
{
	self->weights = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	self->total = 0;
}

static double weight_of(const Shares *self, const char *name)
{
	const double *weight = g_hash_table_lookup(self->weights, name);

	return weight != NULL ? *weight : 0;
}

static void add(Shares *self, char *name, double weight)
{
	double sum = weight_of(self, name) + weight;

	g_hash_table_replace(self->weights, name, g_memdup2(&sum, sizeof(sum)));
}

typedef struct {
	uint64_t address;
	double weight;
	const char *object;
	uint8_t rule, reason;
} Seen;

static void count(Shares *self, const Seen *seen)
{
	self->total += seen->weight;
	add(self, g_strdup_printf("rule %u reason %u", seen->rule, seen->reason), seen->weight);
	if (seen->rule == LODE_RULE_NONE)
		return;
	add(self, g_strdup_printf("page %" G_GINT64_MODIFIER "x", seen->address >> 12),
		seen->weight);
	add(self, g_strdup_printf("object %s", seen->object), seen->weight);
}

static void take(const LodeLiveSample *sample, void *user_data)
{
	const Seen seen = {
		sample->address, sample->weight, sample->object, sample->rule, sample->reason};

	count(user_data, &seen);
}

static void add_events(LodeLiveAddresses *live, const char *file, const FileHeader *header)
{
	size_t attribute_size = header->attribute_size - sizeof(Section);

	for (uint64_t i = 0; i < header->attributes.size / header->attribute_size; i++) {
		const char *entry = file + header->attributes.offset + i * header->attribute_size;
		struct perf_event_attr attr = {0};
		Section ids;
		memcpy(&attr, entry, MIN(sizeof(attr), attribute_size));
		memcpy(&ids, entry + attribute_size, sizeof(ids));
		g_autofree uint64_t *numbers = g_memdup2(file + ids.offset, ids.size);
		const LodePerfObservedEvent event = {
			.name = "event",
			.attr = &attr,
			.ids = numbers,
			.n_ids = ids.size / sizeof(uint64_t),
		};
		lode_live_addresses_add_event(live, &event);
	}
}

/* As the picture gets them: round by round. */
static void add_rounds(LodeLiveAddresses *live, const char *records, size_t size)
{
	enum { FINISHED_ROUND = 68 };
	size_t begin = 0, at = 0;

	while (at < size) {
		struct perf_event_header header;
		memcpy(&header, records + at, sizeof(header));
		if (header.type == FINISHED_ROUND) {
			lode_live_addresses_add(live, records + begin, at - begin);
			begin = at + header.size;
		}
		at += header.size;
	}
	lode_live_addresses_add(live, records + begin, size - begin);
}

static void count_live(Shares *self, const char *path, const char *directory)
{
	const LodeLiveAddressesOptions options = {
		.take = take, .user_data = self, .patience_us = -1, .log_directory = directory};
	g_autoptr(LodeLiveAddresses) live = lode_live_addresses_new(&options);
	g_autofree char *file = NULL;
	gsize size;
	FileHeader header;

	g_assert_true(g_file_get_contents(path, &file, &size, NULL));
	g_assert_cmpuint(size, >, sizeof(header));
	memcpy(&header, file, sizeof(header));
	add_events(live, file, &header);
	add_rounds(live, file + header.data.offset, header.data.size);
	g_assert_cmpuint(lode_live_addresses_n_unreadable(live), ==, 0);
	g_assert_true(lode_live_addresses_is_by_time(live));
}

static void count_imported(Shares *self, const GPtrArray *paths)
{
	const LodeImportOptions options = {
		.paths = (const char *const *)paths->pdata, .n_paths = paths->len};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) profile = lode_import(&options, NULL, &error);

	g_assert_no_error(error);
	const LodeMemory *memory = profile->memory;
	for (guint i = 0; i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		const LodeDataObject *object = sample->object != LODE_NONE
		                                       ? &LODE_AT(memory->objects, LodeDataObject,
								 sample->object)
		                                       : NULL;
		const Seen seen = {
			.address = sample->address,
			.weight = sample->weight,
			.object = object != NULL ? object->name : NULL,
			.rule = sample->rule,
			.reason = sample->reason,
		};
		const char *event = LODE_AT(profile->code.events, LodeEvent, sample->event).name;
		if (strcmp(event, "page-faults") != 0)
			count(self, &seen);
	}
	g_assert_true(memory->is_stall_weighted);
}

/* Within three points; most are equal. */
static void check_shares(const Shares *live, const Shares *imported)
{
	GHashTableIter iterator;
	void *name;

	g_assert_cmpfloat(imported->total, >, 0);
	/* A sample more or less of some five hundred. */
	g_assert_cmpfloat_with_epsilon(live->total, imported->total, imported->total / 100);
	g_hash_table_iter_init(&iterator, imported->weights);
	while (g_hash_table_iter_next(&iterator, &name, NULL)) {
		double recorded = weight_of(imported, name) / imported->total;
		double shown = weight_of(live, name) / live->total;
		if (ABS(shown - recorded) >= 0.03)
			g_test_message("%s: %.3f live, %.3f recorded", (const char *)name, shown,
				recorded);
		g_assert_cmpfloat_with_epsilon(shown, recorded, 0.03);
	}
}

/* All that a recording has left in its directory. */
static GPtrArray *list_files(const char *directory)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) listing = g_dir_open(directory, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(listing)) != NULL)
		g_ptr_array_add(paths, g_build_filename(directory, name, NULL));
	return paths;
}

static bool has_object(const Shares *self, const char *prefix)
{
	GHashTableIter iterator;
	void *name;

	g_hash_table_iter_init(&iterator, self->weights);
	while (g_hash_table_iter_next(&iterator, &name, NULL))
		if (g_str_has_prefix(name, prefix))
			return true;
	return false;
}

/* Whether the objects of both threads were named: on a busy machine, one may have had no time at
 * all. */
static bool compare_run(int seconds)
{
	g_autofree char *directory = g_dir_make_tmp("lode-live-XXXXXX", NULL);
	g_autofree char *kept = g_build_filename(directory, "kept", NULL);
	g_autofree char *recorded = g_build_filename(kept, "perf.data", NULL);
	g_autofree char *profile = g_build_filename(directory, "x.lode", NULL);
	g_autofree char *duration = g_strdup_printf("%d", seconds);
	const char *argv[] = {LODE_EXECUTABLE, "memory", "record", "-e", "cpu-clock:u", "-F",
		"2000", "--allocations", "--duration", duration, "--keep-recording", kept, "-o",
		profile, "--", PROGRAM_ATTACHED, "objects", NULL};
	g_autofree char *complaint = NULL;
	bool has_both = true;
	int status = 0;
	Shares live = {0}, imported = {0};

	g_assert_true(g_spawn_sync(
		NULL, (char **)argv, NULL, 0, NULL, NULL, NULL, &complaint, &status, NULL));
	g_autoptr(GPtrArray) files = list_files(kept);
	if (status != 0) {
		g_test_skip(complaint);
	} else {
		shares_init(&live);
		shares_init(&imported);
		count_live(&live, recorded, kept);
		count_imported(&imported, files);
	}
	/* What fails below leaves nothing behind. */
	for (guint i = 0; i < files->len; i++)
		g_unlink(files->pdata[i]);
	g_rmdir(kept);
	g_unlink(profile);
	g_rmdir(directory);
	if (status == 0) {
		check_shares(&live, &imported);
		has_both = has_object(&live, "object malloc@attached_program.c:") &&
		           has_object(&live, "object struct pair.value");
		g_hash_table_unref(live.weights);
		g_hash_table_unref(imported.weights);
	}
	return has_both;
}

static void test_one_run(void)
{
	int seconds = 1;

	while (!compare_run(seconds)) {
		seconds *= 2;
		g_assert_cmpint(seconds, <=, 16);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live-shares/one-run", test_one_run);
	return g_test_run();
}
