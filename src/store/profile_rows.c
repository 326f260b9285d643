/* SPDX-License-Identifier: MIT */
/*
 * One function per table says what its columns are; one list names the tables in the order in which
 * they are filled.
 */
#include "store/profile_rows.h"

#include "store/memory_tables.h"
#include "store/profile_store.h"
#include "store/row_source.h"

typedef struct {
	const LodeProfile *profile;
	GPtrArray *strings; /* rows of table `string` */
	uint32_t *files;    /* per location: into strings */
	uint32_t *inlined;  /* likewise */
	GArray *members;    /* Pair: rows of event_term or attribute_set_member */
	uint32_t n_terms;   /* the first of them are event terms */
	uint32_t cost_of;   /* the instruction whose costs are being written */
} Rows;

/* A part of a list: which list, and which place in it. */
typedef struct {
	uint32_t owner, position;
} Pair;

static void give_event(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeEvent *event = lode_profile_event(self->profile, row);

	switch (column) {
	case 0:
		lode_row_result_text(out, event->name);
		break;
	case 1:
		lode_row_result_text(out, event->description);
		break;
	case 2:
		lode_row_result_text(out, lode_event_kind_to_text(event->kind));
		break;
	case 3:
		sqlite3_result_int(out, event->is_attribute);
		break;
	default:
		sqlite3_result_double(out, event->total);
	}
}

static void give_event_term(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const Pair *pair = &LODE_AT(self->members, Pair, row);
	const LodeEvent *event = lode_profile_event(self->profile, pair->owner);
	const LodeEventTerm *term = &LODE_AT(event->terms, LodeEventTerm, pair->position);

	switch (column) {
	case 0:
		lode_row_result_reference(out, pair->owner);
		break;
	case 1:
		lode_row_result_reference(out, pair->position);
		break;
	case 2:
		lode_row_result_reference(out, term->event);
		break;
	default:
		sqlite3_result_double(out, term->factor);
	}
}

static void give_image(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeImage *image = lode_profile_image(self->profile, row);

	switch (column) {
	case 0:
		lode_row_result_text(out, image->path);
		break;
	case 1:
		lode_row_result_text(out, image->build_id);
		break;
	default:
		lode_row_result_text(out, lode_image_kind_to_text(image->kind));
	}
}

static void give_code(GBytes *code, sqlite3_context *out)
{
	size_t size;
	const void *bytes;

	if (code == NULL)
		return;
	bytes = g_bytes_get_data(code, &size);
	/* A NULL pointer would become NULL, not an empty blob. */
	sqlite3_result_blob64(out, bytes != NULL ? bytes : "", size, SQLITE_STATIC);
}

static void give_function(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeFunction *function = lode_profile_function(self->profile, row);

	switch (column) {
	case 0:
		lode_row_result_reference(out, function->image);
		break;
	case 1:
		lode_row_result_text(out, lode_function_source_to_text(function->source));
		break;
	case 2:
		lode_row_result_text(out, function->name);
		break;
	case 3:
		lode_row_result_text(out, function->symbol);
		break;
	case 4:
		sqlite3_result_int64(out, (sqlite3_int64)function->address);
		break;
	case 5:
		sqlite3_result_int64(out, (sqlite3_int64)function->size);
		break;
	case 6:
		sqlite3_result_double(out, function->calls);
		break;
	default:
		give_code(function->code, out);
	}
}

static void give_block(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeBlock *block = lode_profile_block(self->profile, row);

	switch (column) {
	case 0:
		lode_row_result_reference(out, block->function);
		break;
	case 1:
		sqlite3_result_int64(out, (sqlite3_int64)block->address);
		break;
	case 2:
		sqlite3_result_int64(out, (sqlite3_int64)block->end);
		break;
	case 3:
		sqlite3_result_double(out, block->count);
		break;
	case 4:
		sqlite3_result_int(out, block->loop_depth);
		break;
	default:
		sqlite3_result_int(out, block->is_loop_head);
	}
}

static void give_attribute(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;

	(void)column;
	lode_row_result_text(out, g_ptr_array_index(self->profile->attributes, row));
}

static void give_attribute_set(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;

	(void)column;
	sqlite3_result_int64(out, LODE_AT(self->profile->attribute_sets, LodeAttributeSet, row).n);
}

static void give_set_member(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const Pair *pair = &LODE_AT(self->members, Pair, self->n_terms + row);

	if (column == 0)
		lode_row_result_reference(out, pair->owner);
	else
		lode_row_result_reference(
			out, LODE_AT(self->profile->set_members, uint32_t, pair->position));
}

static void give_string(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;

	(void)column;
	lode_row_result_text(out, g_ptr_array_index(self->strings, row));
}

static void give_location(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;

	switch (column) {
	case 0:
		lode_row_result_reference(out, self->files[row]);
		break;
	case 1:
		sqlite3_result_int64(
			out, LODE_AT(self->profile->locations, LodeLocation, row).line);
		break;
	default:
		lode_row_result_reference(out, self->inlined[row]);
	}
}

static void give_instruction(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeInstruction *instruction = lode_profile_instruction(self->profile, row);

	switch (column) {
	case 0:
		lode_row_result_reference(out, instruction->function);
		break;
	case 1:
		lode_row_result_reference(out, instruction->block);
		break;
	case 2:
		sqlite3_result_int64(out, (sqlite3_int64)instruction->address);
		break;
	case 3:
		sqlite3_result_int64(out, instruction->size);
		break;
	case 4:
		sqlite3_result_double(out, instruction->count);
		break;
	case 5:
		if (instruction->next_count >= 0)
			sqlite3_result_double(out, instruction->next_count);
		break;
	case 6:
		lode_row_result_reference(out, instruction->attribute_set);
		break;
	case 7:
		lode_row_result_reference(out, instruction->location);
		break;
	default:
		lode_row_result_text(out, instruction->name);
	}
}

static void give_cost(void *data, size_t row, int column, sqlite3_context *out)
{
	Rows *self = data;
	const LodeCost *cost = &LODE_AT(self->profile->costs, LodeCost, row);

	switch (column) {
	case 0:
		while (LODE_AT(self->profile->cost_starts, uint32_t, self->cost_of + 1) <= row)
			self->cost_of++;
		lode_row_result_reference(out, self->cost_of);
		break;
	case 1:
		lode_row_result_reference(out, cost->event);
		break;
	default:
		sqlite3_result_double(out, cost->value);
	}
}

static void give_edge(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeEdge *edge = &LODE_AT(self->profile->edges, LodeEdge, row);

	switch (column) {
	case 0:
		lode_row_result_reference(out, edge->source);
		break;
	case 1:
		lode_row_result_reference(out, edge->target);
		break;
	case 2:
		lode_row_result_text(out, lode_edge_kind_to_text(edge->kind));
		break;
	default:
		sqlite3_result_double(out, edge->count);
	}
}

static void give_unresolved(void *data, size_t row, int column, sqlite3_context *out)
{
	const Rows *self = data;
	const LodeUnresolved *unresolved = &LODE_AT(self->profile->unresolved, LodeUnresolved, row);

	switch (column) {
	case 0:
		lode_row_result_text(out, unresolved->reason);
		break;
	case 1:
		lode_row_result_text(out, unresolved->example);
		break;
	case 2:
		sqlite3_result_double(out, unresolved->count);
		break;
	case 3:
		sqlite3_result_double(out, unresolved->weight);
		break;
	case 4:
		sqlite3_result_int64(out, (sqlite3_int64)unresolved->places);
		break;
	default:
		sqlite3_result_double(out, unresolved->samples);
	}
}

static const char *const meta_keys[] = {"creator", "frequency", "inflow_checked", "inflow_equal",
	"program", "samples", "schema_version", "total_count", "weight_event"};

static void give_meta(void *data, size_t row, int column, sqlite3_context *out)
{
	const LodeProfile *profile = ((const Rows *)data)->profile;

	if (column == 0) {
		lode_row_result_text(out, meta_keys[row]);
		return;
	}
	switch (row) {
	case 0:
		lode_row_result_text(out, profile->creator);
		break;
	case 1:
		lode_row_result_text(out, lode_frequency_to_text(profile->frequency));
		break;
	case 2:
		sqlite3_result_double(out, profile->inflow_checked);
		break;
	case 3:
		sqlite3_result_double(out, profile->inflow_equal);
		break;
	case 4:
		lode_row_result_text(out, profile->program);
		break;
	case 5:
		sqlite3_result_double(out, profile->n_samples);
		break;
	case 6:
		sqlite3_result_int(out, LODE_SCHEMA_VERSION);
		break;
	case 7:
		sqlite3_result_double(out, profile->total_count);
		break;
	default:
		lode_row_result_reference(out, profile->weight_event);
	}
}

static uint32_t string_row(GHashTable *rows, GPtrArray *strings, char *text)
{
	void *found;

	if (text == NULL)
		return LODE_NONE;
	if (g_hash_table_lookup_extended(rows, text, NULL, &found))
		return GPOINTER_TO_UINT(found);
	g_hash_table_insert(rows, text, GUINT_TO_POINTER(strings->len));
	g_ptr_array_add(strings, text);
	return strings->len - 1;
}

/* Locations share few files and functions: each becomes one row of `string`. */
static void number_strings(Rows *self)
{
	GArray *locations = self->profile->locations;
	g_autoptr(GHashTable) rows = g_hash_table_new(g_str_hash, g_str_equal);

	self->strings = g_ptr_array_new();
	self->files = g_new(uint32_t, locations->len);
	self->inlined = g_new(uint32_t, locations->len);
	for (guint i = 0; i < locations->len; i++) {
		const LodeLocation *location = &LODE_AT(locations, LodeLocation, i);
		self->files[i] = string_row(rows, self->strings, location->file);
		self->inlined[i] = string_row(rows, self->strings, location->inlined);
	}
}

/* Lists inside rows become rows of their own. */
static void unroll_lists(Rows *self)
{
	const LodeProfile *profile = self->profile;

	self->members = g_array_new(FALSE, FALSE, sizeof(Pair));
	for (guint i = 0; i < profile->events->len; i++) {
		const LodeEvent *event = lode_profile_event(profile, i);
		for (guint k = 0; event->terms != NULL && k < event->terms->len; k++) {
			Pair pair = {i, k};
			g_array_append_val(self->members, pair);
		}
	}
	self->n_terms = self->members->len;
	for (guint i = 0; i < profile->attribute_sets->len; i++) {
		LodeAttributeSet set = LODE_AT(profile->attribute_sets, LodeAttributeSet, i);
		for (uint32_t k = 0; k < set.n; k++) {
			Pair pair = {i, set.first + k};
			g_array_append_val(self->members, pair);
		}
	}
}

static void clear_rows(Rows *self)
{
	g_ptr_array_unref(self->strings);
	g_array_unref(self->members);
	g_free(self->files);
	g_free(self->inlined);
}

static bool insert_all(LodeDatabase *database, Rows *rows, GError **error)
{
	const LodeProfile *profile = rows->profile;
	const LodeRowSource sources[] = {
		{"meta", "key,value", G_N_ELEMENTS(meta_keys), give_meta, rows},
		{"event", "name,description,kind,is_attribute,total", profile->events->len,
			give_event, rows},
		{"event_term", "event,position,source,factor", rows->n_terms, give_event_term,
			rows},
		{"image", "path,build_id,kind", profile->images->len, give_image, rows},
		{"function", "image,source,name,symbol,address,size,calls,code",
			profile->functions->len, give_function, rows},
		{"block", "function,address,end_address,count,loop_depth,is_loop_head",
			profile->blocks->len, give_block, rows},
		{"attribute", "name", profile->attributes->len, give_attribute, rows},
		{"attribute_set", "size", profile->attribute_sets->len, give_attribute_set, rows},
		{"attribute_set_member", "attribute_set,attribute", profile->set_members->len,
			give_set_member, rows},
		{"string", "text", rows->strings->len, give_string, rows},
		{"location", "file,line,inlined", profile->locations->len, give_location, rows},
		{"instruction",
			"function,block,address,size,count,next_count,attribute_set,location,name",
			profile->instructions->len, give_instruction, rows},
		{"cost", "instruction,event,value", profile->costs->len, give_cost, rows},
		{"edge", "source,target,kind,count", profile->edges->len, give_edge, rows},
		{"unresolved", "reason,example,count,weight,places,samples",
			profile->unresolved->len, give_unresolved, rows},
	};

	database->stage = "writing the profile";
	if (profile->memory != NULL)
		database->rows_total += lode_memory_tables_count(profile->memory);
	for (size_t i = 0; i < G_N_ELEMENTS(sources); i++)
		database->rows_total += (double)sources[i].n_rows;
	for (size_t i = 0; i < G_N_ELEMENTS(sources); i++)
		if (!lode_row_source_insert(&sources[i], database, error))
			return false;
	return profile->memory == NULL ||
	       lode_memory_tables_insert(profile->memory, database, error);
}

bool lode_profile_rows_insert(const LodeProfile *profile, LodeDatabase *database, GError **error)
{
	Rows rows = {.profile = profile};

	number_strings(&rows);
	unroll_lists(&rows);
	bool done = insert_all(database, &rows, error);
	clear_rows(&rows);
	return done;
}
