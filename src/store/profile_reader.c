/* SPDX-License-Identifier: MIT */
/*
 * Reading a profile: one loader per table, which checks each value for itself; how rows refer to
 * each other is checked once all are there.
 */
#include "base/error.h"
#include "store/memory_tables.h"
#include "store/profile_check.h"
#include "store/profile_store.h"
#include "store/row_reader.h"

#include <string.h>

typedef struct {
	LodeDatabase *database;
	LodeProfile *profile;
	GPtrArray *strings; /* texts of table `string`, owned by the profile */
} Loader;

static void take_meta(LodeProfile *profile, LodeRowReader *rows, GHashTable *seen)
{
	const char *key = lode_row_reader_text(rows, 0);

	g_hash_table_add(seen, g_strdup(key));
	if (strcmp(key, "creator") == 0)
		profile->creator = lode_profile_intern(
			profile, lode_row_reader_optional_text(rows, 1));
	else if (strcmp(key, "frequency") == 0)
		profile->frequency = (LodeFrequency)lode_row_reader_word(
			rows, 1, lode_frequency_from_text);
	else if (strcmp(key, "inflow_checked") == 0)
		profile->inflow_checked = lode_row_reader_amount(rows, 1);
	else if (strcmp(key, "inflow_equal") == 0)
		profile->inflow_equal = lode_row_reader_amount(rows, 1);
	else if (strcmp(key, "program") == 0)
		profile->program = lode_profile_intern(
			profile, lode_row_reader_optional_text(rows, 1));
	else if (strcmp(key, "samples") == 0)
		profile->n_samples = lode_row_reader_amount(rows, 1);
	else if (strcmp(key, "total_count") == 0)
		profile->total_count = lode_row_reader_amount(rows, 1);
	else if (strcmp(key, "weight_event") == 0)
		profile->weight_event = lode_row_reader_optional_reference(rows, 1);
}

static bool load_meta(Loader *self, GError **error)
{
	static const char *const needed[] = {"creator", "frequency", "inflow_checked",
		"inflow_equal", "program", "samples", "total_count", "weight_event"};
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "meta", "SELECT key, value FROM meta");
	while (lode_row_reader_next(&rows) && rows.n_rows <= 1000)
		take_meta(self->profile, &rows, seen);
	if (!lode_row_reader_finish(&rows, error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(needed); i++)
		if (!g_hash_table_contains(seen, needed[i])) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
				"table 'meta': key '%s' is missing", needed[i]);
			return false;
		}
	return true;
}

static bool load_events(Loader *self, GError **error)
{
	LodeProfile *profile = self->profile;
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "event",
		"SELECT id, name, description, kind, is_attribute, total FROM event ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		int kind = lode_row_reader_word(&rows, 3, lode_event_kind_from_text);
		uint32_t id = lode_profile_add_event(profile, lode_row_reader_text(&rows, 1),
			lode_row_reader_optional_text(&rows, 2), (LodeEventKind)kind, NULL, 0);
		LodeEvent *event = lode_profile_event(profile, id);
		event->is_attribute = lode_row_reader_integer(&rows, 4, 1) != 0;
		event->total = lode_row_reader_number(&rows, 5);
	}
	return lode_row_reader_finish(&rows, error);
}

static bool load_event_terms(Loader *self, GError **error)
{
	GArray *events = self->profile->events;
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "event_term",
		"SELECT event, position, source, factor FROM event_term ORDER BY event, position");
	while (lode_row_reader_next(&rows)) {
		uint32_t event = lode_row_reader_reference(&rows, 0);
		uint32_t position = lode_row_reader_reference(&rows, 1);
		LodeEventTerm term = {
			.event = lode_row_reader_reference(&rows, 2),
			.factor = lode_row_reader_number(&rows, 3),
		};
		GArray *terms = event < events->len ? LODE_AT(events, LodeEvent, event).terms
		                                    : NULL;
		if (terms == NULL || terms->len != position)
			lode_row_reader_fail(&rows, "no derived event has this term");
		else
			g_array_append_val(terms, term);
	}
	return lode_row_reader_finish(&rows, error);
}

static bool load_images(Loader *self, GError **error)
{
	LodeProfile *profile = self->profile;
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "image",
		"SELECT id, path, build_id, kind FROM image ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		LodeImage image = {
			.path = lode_profile_intern(profile, lode_row_reader_text(&rows, 1)),
			.build_id = lode_profile_intern(
				profile, lode_row_reader_optional_text(&rows, 2)),
			.kind = (LodeImageKind)lode_row_reader_word(
				&rows, 3, lode_image_kind_from_text),
		};
		g_array_append_val(profile->images, image);
	}
	return lode_row_reader_finish(&rows, error);
}

static bool load_functions(Loader *self, GError **error)
{
	LodeProfile *profile = self->profile;
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "function",
		"SELECT id, image, source, name, symbol, address, size, calls, code "
		"FROM function ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		LodeFunction function = {
			.image = lode_row_reader_reference(&rows, 1),
			.source = (LodeFunctionSource)lode_row_reader_word(
				&rows, 2, lode_function_source_from_text),
			.name = lode_profile_intern(profile, lode_row_reader_text(&rows, 3)),
			.symbol = lode_profile_intern(
				profile, lode_row_reader_optional_text(&rows, 4)),
			.address = lode_row_reader_address(&rows, 5),
			.size = lode_row_reader_integer(&rows, 6, INT64_MAX),
			.calls = lode_row_reader_amount(&rows, 7),
			.code = lode_row_reader_optional_bytes(&rows, 8),
		};
		g_array_append_val(profile->functions, function);
	}
	return lode_row_reader_finish(&rows, error);
}

static bool load_blocks(Loader *self, GError **error)
{
	LodeProfile *profile = self->profile;
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "block",
		"SELECT id, function, address, end_address, count, loop_depth, is_loop_head "
		"FROM block ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		LodeBlock block = {
			.function = lode_row_reader_reference(&rows, 1),
			.address = lode_row_reader_address(&rows, 2),
			.end = lode_row_reader_address(&rows, 3),
			.count = lode_row_reader_amount(&rows, 4),
			.loop_depth = (uint8_t)lode_row_reader_integer(&rows, 5, UINT8_MAX),
			.is_loop_head = lode_row_reader_integer(&rows, 6, 1) != 0,
		};
		g_array_append_val(profile->blocks, block);
	}
	return lode_row_reader_finish(&rows, error);
}

static bool load_attributes(Loader *self, GError **error)
{
	LodeRowReader rows;

	lode_row_reader_init(
		&rows, self->database, "attribute", "SELECT id, name FROM attribute ORDER BY id");
	while (lode_row_reader_next_numbered(&rows))
		if (lode_profile_attribute(self->profile, lode_row_reader_text(&rows, 1)) + 1 !=
			rows.n_rows)
			lode_row_reader_fail(&rows, "its name has been there before");
	return lode_row_reader_finish(&rows, error);
}

/* Moves the next `size` members of set `set` into `members`. */
static void take_members(LodeRowReader *rows, uint32_t set, uint64_t size, GArray *members)
{
	g_array_set_size(members, 0);
	while (size > 0 && lode_row_reader_next(rows)) {
		uint32_t attribute = lode_row_reader_reference(rows, 1);
		if (lode_row_reader_reference(rows, 0) != set)
			lode_row_reader_fail(rows, "its set has more or fewer members");
		else if (members->len > 0 &&
			 LODE_AT(members, uint32_t, members->len - 1) >= attribute)
			lode_row_reader_fail(rows, "its set is not in order");
		g_array_append_val(members, attribute);
		size--;
	}
}

static bool load_attribute_sets(Loader *self, GError **error)
{
	g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	LodeRowReader sets, rows;

	lode_row_reader_init(&sets, self->database, "attribute_set",
		"SELECT id, size FROM attribute_set ORDER BY id");
	lode_row_reader_init(&rows, self->database, "attribute_set_member",
		"SELECT attribute_set, attribute FROM attribute_set_member "
		"ORDER BY attribute_set, attribute");
	while (rows.error == NULL && lode_row_reader_next_numbered(&sets)) {
		uint64_t size = lode_row_reader_integer(&sets, 1, UINT32_MAX);
		take_members(&rows, (uint32_t)sets.n_rows - 1, size, members);
		if (members->len != size)
			lode_row_reader_fail(&sets, "it has fewer members than its size says");
		else if (lode_profile_attribute_set(
				 self->profile, (uint32_t *)members->data, members->len) +
				 1 !=
			 sets.n_rows)
			lode_row_reader_fail(&sets, "its members have been a set before");
	}
	if (sets.error == NULL && lode_row_reader_next(&rows))
		lode_row_reader_fail(&rows, "its set does not exist");
	/* Both are finished in any case; the fault that came first in the file's order wins. */
	bool has_members = lode_row_reader_finish(&rows, error);
	return lode_row_reader_finish(&sets, has_members ? error : NULL) && has_members;
}

static bool load_strings(Loader *self, GError **error)
{
	LodeRowReader rows;

	lode_row_reader_init(
		&rows, self->database, "string", "SELECT id, text FROM string ORDER BY id");
	while (lode_row_reader_next_numbered(&rows))
		g_ptr_array_add(self->strings,
			lode_profile_intern(self->profile, lode_row_reader_text(&rows, 1)));
	return lode_row_reader_finish(&rows, error);
}

static const char *string_at(Loader *self, LodeRowReader *rows, int column)
{
	uint32_t index = lode_row_reader_optional_reference(rows, column);

	if (index == LODE_NONE)
		return NULL;
	if (index < self->strings->len)
		return g_ptr_array_index(self->strings, index);
	lode_row_reader_fail(rows, "a string does not exist");
	return NULL;
}

static bool load_locations(Loader *self, GError **error)
{
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "location",
		"SELECT id, file, line, inlined FROM location ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		const char *file = string_at(self, &rows, 1);
		uint32_t line = (uint32_t)lode_row_reader_integer(&rows, 2, UINT32_MAX);
		const char *inlined = string_at(self, &rows, 3);
		if (lode_profile_location(self->profile, file, line, inlined) + 1 != rows.n_rows)
			lode_row_reader_fail(&rows, "it has been there before");
	}
	return lode_row_reader_finish(&rows, error);
}

static bool load_instructions(Loader *self, GError **error)
{
	LodeProfile *profile = self->profile;
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "instruction",
		"SELECT id, function, block, address, size, count, next_count, attribute_set, "
		"location, name FROM instruction ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		LodeInstruction instruction = {
			.function = lode_row_reader_reference(&rows, 1),
			.block = lode_row_reader_optional_reference(&rows, 2),
			.address = lode_row_reader_address(&rows, 3),
			.size = (uint32_t)lode_row_reader_integer(&rows, 4, UINT32_MAX),
			.count = lode_row_reader_amount(&rows, 5),
			.next_count = lode_row_reader_is_null(&rows, 6)
		                              ? -1
		                              : lode_row_reader_amount(&rows, 6),
			.attribute_set = lode_row_reader_reference(&rows, 7),
			.location = lode_row_reader_optional_reference(&rows, 8),
			.name = lode_profile_intern(
				profile, lode_row_reader_optional_text(&rows, 9)),
		};
		g_array_append_val(profile->instructions, instruction);
	}
	return lode_row_reader_finish(&rows, error);
}

static bool load_costs(Loader *self, GError **error)
{
	LodeProfile *profile = self->profile;
	guint n = profile->instructions->len, begun = 0;
	uint32_t event = 0;
	LodeRowReader rows;

	g_array_set_size(profile->cost_starts, n + 1);
	lode_row_reader_init(&rows, self->database, "cost",
		"SELECT instruction, event, value FROM cost ORDER BY instruction, event");
	while (lode_row_reader_next(&rows)) {
		uint32_t instruction = lode_row_reader_reference(&rows, 0);
		LodeCost cost = {
			.event = lode_row_reader_reference(&rows, 1),
			.value = lode_row_reader_amount(&rows, 2),
		};
		if (instruction >= n || instruction + 1 < begun)
			lode_row_reader_fail(&rows, "its instruction does not exist");
		else if (instruction + 1 == begun && event >= cost.event)
			lode_row_reader_fail(&rows, "it is not in the order of events");
		if (rows.error != NULL)
			break;
		event = cost.event;
		while (begun <= instruction)
			LODE_AT(profile->cost_starts, uint32_t, begun++) = profile->costs->len;
		g_array_append_val(profile->costs, cost);
	}
	while (begun <= n)
		LODE_AT(profile->cost_starts, uint32_t, begun++) = profile->costs->len;
	return lode_row_reader_finish(&rows, error);
}

static bool load_edges(Loader *self, GError **error)
{
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "edge",
		"SELECT id, source, target, kind, count FROM edge ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		LodeEdge edge = {
			.source = lode_row_reader_reference(&rows, 1),
			.target = lode_row_reader_reference(&rows, 2),
			.kind = (LodeEdgeKind)lode_row_reader_word(
				&rows, 3, lode_edge_kind_from_text),
			.count = lode_row_reader_amount(&rows, 4),
		};
		g_array_append_val(self->profile->edges, edge);
	}
	return lode_row_reader_finish(&rows, error);
}

static bool load_unresolved(Loader *self, GError **error)
{
	LodeProfile *profile = self->profile;
	LodeRowReader rows;

	lode_row_reader_init(&rows, self->database, "unresolved",
		"SELECT id, reason, example, count, weight, places, samples FROM unresolved "
		"ORDER BY id");
	while (lode_row_reader_next_numbered(&rows)) {
		LodeUnresolved unresolved = {
			.reason = lode_profile_intern(profile, lode_row_reader_text(&rows, 1)),
			.example = lode_profile_intern(
				profile, lode_row_reader_optional_text(&rows, 2)),
			.count = lode_row_reader_amount(&rows, 3),
			.weight = lode_row_reader_amount(&rows, 4),
			.places = lode_row_reader_integer(&rows, 5, INT64_MAX),
			.samples = lode_row_reader_amount(&rows, 6),
		};
		g_array_append_val(profile->unresolved, unresolved);
	}
	return lode_row_reader_finish(&rows, error);
}

/* Instructions and blocks stand in the order of their functions, so that the ranges follow. */
static void find_ranges(LodeProfile *profile)
{
	guint instruction = 0, block = 0;

	for (guint i = 0; i < profile->functions->len; i++) {
		LodeFunction *function = lode_profile_function(profile, i);
		function->first_instruction = instruction;
		while (instruction < profile->instructions->len &&
			lode_profile_instruction(profile, instruction)->function == i)
			instruction++;
		function->n_instructions = instruction - function->first_instruction;
		function->first_block = block;
		while (block < profile->blocks->len &&
			lode_profile_block(profile, block)->function == i)
			block++;
		function->n_blocks = block - function->first_block;
	}
}

static bool load_tables(Loader *self, GError **error)
{
	static bool (*const load[])(Loader *, GError **) = {load_meta, load_events,
		load_event_terms, load_images, load_functions, load_blocks, load_attributes,
		load_attribute_sets, load_strings, load_locations, load_instructions, load_costs,
		load_edges, load_unresolved};

	self->database->stage = "reading the profile";
	for (size_t i = 0; i < G_N_ELEMENTS(load); i++)
		if (!load[i](self, error))
			return false;
	find_ranges(self->profile);
	return lode_profile_check(self->profile, error);
}

static LodeProfile *read_profile(
	const char *path, bool has_memory, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeDatabase) database = lode_database_open(path, progress, error);
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(GPtrArray) strings = g_ptr_array_new();
	Loader loader = {database, profile, strings};

	if (database == NULL || !load_tables(&loader, error) ||
		(has_memory && !lode_memory_tables_read(profile, database, error))) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&profile);
}

LodeProfile *lode_profile_store_read(const char *path, const LodeProgress *progress, GError **error)
{
	return read_profile(path, false, progress, error);
}

LodeProfile *lode_profile_store_read_with_memory(
	const char *path, const LodeProgress *progress, GError **error)
{
	return read_profile(path, true, progress, error);
}
