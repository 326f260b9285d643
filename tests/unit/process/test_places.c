/* SPDX-License-Identifier: MIT */
/* Where addresses lie, by a few processes and by random ones against a plain list. */
#include "../sources/jitdump_bytes.h"
#include "model/index.h"
#include "process/places.h"
#include "seeds.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { PID = 7, CHILD = 8, PAGE = 4096, MEBIBYTE = 1 << 20 };

typedef struct {
	LodeCodeImages *images;
	LodePlaces *places;
	uint64_t time;
} Fixture;

static void set_up(Fixture *self, const void *data)
{
	self->images = lode_code_images_new(NULL, false);
	const LodePlacesOptions options = {.images = self->images, .is_live = data != NULL};
	self->places = lode_places_new(&options);
	if (data == NULL)
		lode_places_begin(self->places);
	self->time = 0;
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_places_free(self->places);
	lode_code_images_free(self->images);
}

static void map(Fixture *self, uint32_t pid, uint64_t start, uint64_t size, const char *path)
{
	const LodePerfRecord record = {
		.kind = LODE_PERF_MAPPING,
		.mode = LODE_PERF_MODE_USER,
		.pid = pid,
		.mapping = {.start = start,
			.size = size,
			.protection = PROT_READ | PROT_EXEC,
			.path = path},
	};

	lode_places_note(self->places, &record, ++self->time);
}

static void tell(Fixture *self, LodePerfRecordKind kind, uint32_t pid, uint32_t parent)
{
	const LodePerfRecord record = {.kind = kind,
		.pid = pid,
		.tid = pid,
		.parent_pid = parent,
		.is_exec = true,
		.text = ""};

	lode_places_note(self->places, &record, ++self->time);
}

/* "/a+10", or why there is no image. */
static char *text_at(Fixture *self, uint32_t pid, uint64_t time, uint64_t address)
{
	LodePlace place;
	LodePlaceOutcome outcome = lode_places_find(self->places, pid, time, address, &place);

	if (outcome == LODE_PLACE_FOUND)
		return g_strdup_printf("%s+%" G_GINT64_MODIFIER "x",
			lode_code_images_peek(self->images, place.image)->path, place.address);
	g_assert_cmpuint(place.image, ==, LODE_NONE);
	g_assert_cmphex(place.address, ==, address);
	return g_strdup(lode_place_outcome_reason(outcome));
}

static void check(
	Fixture *self, uint32_t pid, uint64_t time, uint64_t address, const char *expected)
{
	g_autofree char *found = text_at(self, pid, time, address);

	g_assert_cmpstr(found, ==, expected);
}

static const char unmapped[] = "sample outside any mapping";
static const char no_code[] = "sample in code made at run time that no jitdump or perf map knows";

/* Files that are not there: their offsets stand for addresses. */
static void test_history(Fixture *self, const void *data)
{
	(void)data;
	map(self, PID, 0x10000, 2 * PAGE, "/none/a"); /* 1 */
	map(self, PID, 0x11000, PAGE, "/none/b");
	tell(self, LODE_PERF_FORK, CHILD, PID); /* 3 */
	map(self, CHILD, 0x10000, PAGE, "//anon");
	tell(self, LODE_PERF_COMMAND, PID, 0); /* 5 */
	map(self, PID, 0x20000, PAGE, "[vsyscall]");
	lode_places_freeze(self->places, NULL, NULL, NULL);
	check(self, PID, 1, 0x11010, "/none/a+1010");
	check(self, PID, 2, 0x11010, "/none/b+10");
	check(self, PID, 2, 0x10010, "/none/a+10");
	check(self, PID, 5, 0x10010, unmapped);
	check(self, PID, 6, 0x20010, "sample in the kernel's pages of a process");
	check(self, CHILD, 3, 0x10010, "/none/a+10");
	check(self, CHILD, 9, 0x11010, "/none/b+10");
	check(self, CHILD, 9, 0x12010, unmapped);
	check(self, 99, 9, 0x10010, unmapped);
}

/* Memory over a file's text is the text if it is all of it, or its huge pages. */
static void test_copies(Fixture *self, const void *data)
{
	const uint64_t text = 0x40000000 + 3 * PAGE, end = text + 9 * MEBIBYTE;
	const uint64_t time = data != NULL ? LODE_TIME_NOW : 100;
	static const struct {
		uint64_t start, end;
		bool is_copy;
	} rows[] = {
		{0x40000000 + 3 * PAGE, 0x40000000 + 3 * PAGE + 9 * MEBIBYTE, true},
		{0x40200000, 0x40800000, true},
		{0x40000000, 0x40a00000, true},
		{0x40200000, 0x40204000, false},
		{0x40100000, 0x40800000, false},
	};

	for (uint32_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		map(self, PID + i, text, end - text, "/none/text");
		/* It may be written first, and made executable then. */
		for (unsigned n = 0; n <= i % 2; n++)
			map(self, PID + i, rows[i].start, rows[i].end - rows[i].start, "//anon");
	}
	if (data == NULL)
		lode_places_freeze(self->places, NULL, NULL, NULL);
	for (uint32_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *copied = g_strdup_printf(
			"/none/text+%" G_GINT64_MODIFIER "x", 0x40200010 - text);
		/* Of the present, more than all of it cannot be told from other memory. */
		if (data != NULL && rows[i].start < text)
			continue;
		check(self, PID + i, time, 0x40200010, rows[i].is_copy ? copied : no_code);
	}
}

/* A mapping of a build-id is that build's image, wherever it lies. */
static void test_builds(Fixture *self, const void *data)
{
	static const uint8_t ids[2][3] = {{1, 2, 3}, {4, 5, 6}};
	LodePlace places[3];

	(void)data;
	for (unsigned i = 0; i < 3; i++) {
		const LodePerfRecord record = {
			.kind = LODE_PERF_MAPPING,
			.mode = LODE_PERF_MODE_USER,
			.pid = PID + i,
			.mapping = {.start = 0x1000,
				.size = PAGE,
				.protection = PROT_EXEC,
				.path = i == 2 ? "/elsewhere/p" : "/none/p",
				.build_id = ids[i % 2],
				.build_id_size = sizeof(ids[0])},
		};
		lode_places_note(self->places, &record, i);
	}
	lode_places_freeze(self->places, NULL, NULL, NULL);
	for (unsigned i = 0; i < 3; i++)
		g_assert_cmpint(lode_places_find(self->places, PID + i, 9, 0x1000, &places[i]), ==,
			LODE_PLACE_FOUND);
	g_assert_cmpuint(places[0].image, !=, places[1].image);
	g_assert_cmpuint(places[0].image, ==, places[2].image);
}

/* A dump that a later process of the same number wrote over is not the recorded one. */
static void test_dump_of_another(void)
{
	g_autofree char *folder = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(folder, "jit-7.dump", NULL);
	JitdumpBytes bytes = jitdump_begin(false, 7, 0);
	struct stat status;

	put_load(&bytes, &(JitdumpLoad){10, 0x1000, 16, 1, "made", 1});
	g_autofree char *made = jitdump_end(&bytes);
	g_assert_cmpint(g_rename(made, path), ==, 0);
	g_assert_cmpint(stat(path, &status), ==, 0);
	for (unsigned is_other = 0; is_other < 2; is_other++) {
		g_autoptr(LodeCodeImages) images = lode_code_images_new(NULL, false);
		g_autoptr(LodeJitCodeSet) jit = lode_jit_code_set_new();
		const LodePlacesOptions options = {.images = images, .jit = jit};
		g_autoptr(LodePlaces) places = lode_places_new(&options);
		const LodePerfRecord record = {
			.kind = LODE_PERF_MAPPING,
			.mode = LODE_PERF_MODE_USER,
			.pid = 4711,
			.mapping = {.start = 0x8000,
				.size = PAGE,
				.protection = PROT_EXEC,
				.path = path,
				.device_major = major(status.st_dev),
				.device_minor = minor(status.st_dev),
				.inode = status.st_ino + is_other},
		};
		LodePlace place;
		lode_places_begin(places);
		lode_places_note(places, &record, 1);
		lode_places_freeze(places, NULL, NULL, NULL);
		g_assert_cmpint(lode_places_find(places, 4711, 2, 0x1008, &place), ==,
			is_other ? LODE_PLACE_UNMAPPED : LODE_PLACE_FOUND);
	}
	g_unlink(path);
	g_rmdir(folder);
}

/* What a process has made it has until it executes another program; what it forks has it too. */
static void test_dumps_in_time(Fixture *self, const void *data)
{
	g_autofree char *folder = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(folder, "jit-7.dump", NULL);
	JitdumpBytes bytes = jitdump_begin(false, PID, 0);
	g_autoptr(LodeJitCodeSet) jit = lode_jit_code_set_new();
	const LodePlacesOptions options = {.images = self->images, .jit = jit};

	(void)data;
	put_load(&bytes, &(JitdumpLoad){10, 0x1000, 16, 1, "made", 1});
	g_autofree char *written = jitdump_end(&bytes);
	g_assert_cmpint(g_rename(written, path), ==, 0);
	lode_places_free(self->places);
	self->places = lode_places_new(&options);
	lode_places_begin(self->places);
	map(self, PID, 0x8000, PAGE, path); /* 1 */
	map(self, PID, 0x1000, PAGE, "//anon");
	tell(self, LODE_PERF_FORK, CHILD, PID); /* 3 */
	tell(self, LODE_PERF_COMMAND, PID, 0);
	map(self, PID, 0x1000, PAGE, "//anon"); /* 5 */
	map(self, CHILD, 0x2000, PAGE, "//anon");
	tell(self, LODE_PERF_COMMAND, CHILD, 0); /* 7 */
	map(self, CHILD, 0x1000, PAGE, "//anon");
	lode_places_freeze(self->places, NULL, NULL, NULL);
	g_autofree char *made = text_at(self, PID, 3, 0x1008);
	g_assert_true(g_str_has_prefix(made, path));
	check(self, PID, 5, 0x1008, no_code);
	check(self, CHILD, 6, 0x1008, made);
	check(self, CHILD, 6, 0x2008, no_code);
	check(self, CHILD, 8, 0x1008, no_code);
	g_unlink(path);
	g_rmdir(folder);
}

/* Of a container whose root was given. */
static void test_dump_below_root(void)
{
	g_autofree char *folder = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(folder, "jit-7.dump", NULL);
	g_autoptr(LodeImageFiles) files = lode_image_files_new(false);
	JitdumpBytes bytes = jitdump_begin(false, 7, 0);

	put_load(&bytes, &(JitdumpLoad){10, 0x1000, 16, 1, "made", 1});
	g_autofree char *made = jitdump_end(&bytes);
	g_assert_cmpint(g_rename(made, path), ==, 0);
	g_assert_true(lode_image_files_add_root(files, folder, NULL));
	for (unsigned is_elsewhere = 0; is_elsewhere < 2; is_elsewhere++) {
		g_autoptr(LodeJitCodeSet) jit = lode_jit_code_set_new();
		Fixture self = {.images = lode_code_images_new(files, false)};
		const LodePlacesOptions options = {.images = self.images, .jit = jit};
		self.places = lode_places_new(&options);
		lode_places_begin(self.places);
		map(&self, 4711, 0x8000, PAGE,
			is_elsewhere != 0 ? "/none/jit-7.dump" : "/jit-7.dump (deleted)");
		lode_places_freeze(self.places, NULL, NULL, NULL);
		g_autofree char *found = text_at(&self, 4711, 2, 0x1008);
		g_assert_cmpint(g_str_has_prefix(found, path), ==, is_elsewhere == 0);
		tear_down(&self, NULL);
	}
	g_unlink(path);
	g_rmdir(folder);
}

/* Of the present: only text is copied, not what data lay there. */
static void test_no_copy_of_data(Fixture *self, const void *data)
{
	LodePerfRecord record = {
		.kind = LODE_PERF_MAPPING,
		.mode = LODE_PERF_MODE_USER,
		.pid = PID,
		.mapping = {.start = 0x10000,
			.size = PAGE,
			.protection = PROT_READ,
			.path = "/none/d"},
	};

	(void)data;
	lode_places_note(self->places, &record, ++self->time);
	map(self, PID, 0x10000, PAGE, "//anon");
	check(self, PID, LODE_TIME_NOW, 0x10010, no_code);
}

enum { EVENTS = 60, PAGES = 12 };

typedef struct {
	unsigned kind; /* 0 to 2: a mapping; 3: an exec */
	uint32_t pid;
	uint64_t first, n;
	char path[16];
} Event;

/* The newest mapping of the page since the last exec, by looking at all of them. */
static char *naive_text(const Event *events, unsigned n, uint32_t pid, uint64_t page)
{
	for (unsigned i = n; i-- > 0 && !(events[i].kind == 3 && events[i].pid == pid);)
		if (events[i].kind < 3 && events[i].pid == pid &&
			page - events[i].first < events[i].n)
			return g_strdup_printf("%s+%" G_GINT64_MODIFIER "x", events[i].path,
				(page - events[i].first) * PAGE);
	return g_strdup(unmapped);
}

static void check_random(GRand *rand)
{
	Event events[EVENTS];
	Fixture past = {0}, now = {0};

	set_up(&past, NULL);
	set_up(&now, &now);
	for (unsigned i = 0; i < EVENTS; i++) {
		Event *event = &events[i];
		event->kind = (unsigned)g_rand_int_range(rand, 0, 30) / 9;
		event->pid = PID + (uint32_t)g_rand_int_range(rand, 0, 2);
		event->first = (uint64_t)g_rand_int_range(rand, 0, PAGES);
		event->n = (uint64_t)g_rand_int_range(rand, 1, PAGES - (int)event->first + 1);
		g_snprintf(event->path, sizeof(event->path), "/none/%u", i % 5);
		for (unsigned j = 0; j < 2; j++) {
			Fixture *to = j == 0 ? &past : &now;
			if (event->kind < 3)
				map(to, event->pid, event->first * PAGE, event->n * PAGE,
					event->path);
			else
				tell(to, LODE_PERF_COMMAND, event->pid, 0);
		}
		for (uint64_t page = 0; page < PAGES; page++) {
			g_autofree char *expected = naive_text(events, i + 1, PID, page);
			check(&now, PID, LODE_TIME_NOW, page * PAGE, expected);
		}
	}
	lode_places_freeze(past.places, NULL, NULL, NULL);
	for (unsigned i = 0; i < 200; i++) {
		unsigned n = (unsigned)g_rand_int_range(rand, 1, EVENTS + 1);
		uint64_t page = (uint64_t)g_rand_int_range(rand, 0, PAGES);
		g_autofree char *expected = naive_text(events, n, PID, page);
		check(&past, PID, n, page * PAGE, expected);
	}
	tear_down(&past, NULL);
	tear_down(&now, NULL);
}

static void test_random(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(31));

	for (unsigned i = 0; i < 50; i++)
		check_random(rand);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/places/history", Fixture, NULL, set_up, test_history, tear_down);
	g_test_add("/places/copies", Fixture, NULL, set_up, test_copies, tear_down);
	g_test_add("/places/copies-now", Fixture, "live", set_up, test_copies, tear_down);
	g_test_add("/places/no-copy-of-data", Fixture, "live", set_up, test_no_copy_of_data,
		tear_down);
	g_test_add("/places/builds", Fixture, NULL, set_up, test_builds, tear_down);
	g_test_add_func("/places/dump-of-another", test_dump_of_another);
	g_test_add_func("/places/dump-below-root", test_dump_below_root);
	g_test_add("/places/dumps-in-time", Fixture, NULL, set_up, test_dumps_in_time, tear_down);
	g_test_add_func("/places/random", test_random);
	return g_test_run();
}
