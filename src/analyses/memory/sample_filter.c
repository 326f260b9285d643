/* SPDX-License-Identifier: MIT */
/*
 * Options become tables by number (events, threads, functions, objects) before the first sample is
 * tested, so that each name is compared once; the expression runs last, as it costs most.
 */
#include "analyses/memory/sample_filter.h"

#include "analyses/memory/expressions/expression.h"
#include "analyses/memory/expressions/expression_lexer.h"
#include "analyses/memory/sample_attributes.h"
#include "analyses/memory/simulated_events.h"
#include "analyses/memory/window_samples.h"
#include "base/error.h"
#include "base/text/suggestion.h"
#include "model/code.h"
#include "model/memory.h"

#include <string.h>

typedef struct {
	bool is_given;
	LodeInteger least, most; /* both belong to it */
} AddressRange;

typedef struct {
	const LodeProfile *profile;
	const LodeMemory *memory;
	const LodeSampleFilterOptions *options;
	LodeSampleAttributes *attributes;
	LodeExpression *where; /* NULL: all */
	LodeEvaluator *evaluator;
	bool *events, *threads; /* by number; NULL: all */
	bool *functions;        /* of --pc NAME; NULL */
	bool *objects;          /* of --address NAME; NULL */
	AddressRange pc, address;
	uint8_t access; /* bits, of which one must be there; 0: any */
} Filter;

static void filter_clear(Filter *self)
{
	lode_evaluator_free(self->evaluator);
	lode_expression_free(self->where);
	lode_sample_attributes_free(self->attributes);
	g_free(self->events);
	g_free(self->threads);
	g_free(self->functions);
	g_free(self->objects);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Filter, filter_clear)

static bool fail_name(const char *option, const char *what, const char *name, GPtrArray *candidates,
	GError **error)
{
	g_ptr_array_add(candidates, NULL);
	const char *nearest = lode_suggestion(name, (const char *const *)candidates->pdata);

	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "%s: no %s '%s' in this profile%s%s%s",
		option, what, name, nearest != NULL ? "; did you mean '" : "",
		nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
	return false;
}

static bool choose_event(Filter *self, const char *name, GError **error)
{
	const GArray *events = lode_code_of(self->profile)->events;
	uint32_t found = lode_profile_find_event(self->profile, name);

	if (found != LODE_NONE) {
		self->events[found] = true;
		return true;
	}
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	for (guint i = 0; i < events->len; i++)
		g_ptr_array_add(names, LODE_AT(events, LodeEvent, i).name);
	return fail_name("--event", "event", name, names, error);
}

static bool choose_events(Filter *self, GError **error)
{
	const char *const *names = self->options->events;

	if (names == NULL || names[0] == NULL)
		return true;
	self->events = g_new0(bool, lode_code_of(self->profile)->events->len + 1);
	for (size_t i = 0; names[i] != NULL; i++)
		if (!choose_event(self, names[i], error))
			return false;
	return true;
}

/* "3" is thread 3 of every process, "4711.3" that of one. */
static bool is_thread(const Filter *self, uint32_t thread, const char *text)
{
	const LodeThread *row = &LODE_AT(self->memory->threads, LodeThread, thread);
	g_autofree char *ordinal = g_strdup_printf("%u", row->ordinal);

	return strcmp(ordinal, text) == 0 ||
	       strcmp(lode_sample_attributes_thread_label(self->attributes, thread), text) == 0;
}

static bool choose_thread(Filter *self, const char *text, GError **error)
{
	bool is_found = false;

	for (guint i = 0; i < self->memory->threads->len; i++) {
		if (!is_thread(self, i, text))
			continue;
		self->threads[i] = true;
		is_found = true;
	}
	if (!is_found)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--thread: no thread '%s' in this profile of %u; they count from 0, "
			"and '4711.3' is thread 3 of process 4711",
			text, self->memory->threads->len);
	return is_found;
}

static bool choose_threads(Filter *self, GError **error)
{
	const char *const *threads = self->options->threads;

	if (threads == NULL || threads[0] == NULL)
		return true;
	self->threads = g_new0(bool, self->memory->threads->len + 1);
	for (size_t i = 0; threads[i] != NULL; i++)
		if (!choose_thread(self, threads[i], error))
			return false;
	return true;
}

static bool read_end(const char *text, size_t length, LodeInteger missing, LodeInteger *out_end)
{
	g_autofree char *word = g_strndup(text, length);
	LodeValue value;

	g_strstrip(word);
	*out_end = missing;
	if (*word == '\0')
		return true;
	if (!lode_expression_number_from_text(word, &value) || value.kind != LODE_VALUE_INTEGER)
		return false;
	*out_end = value.integer;
	return true;
}

/* "MIN-MAX", either of which may be left out; false where it is not a range. */
static bool read_range(const char *text, AddressRange *range)
{
	const char *dash = strchr(text, '-');

	if (dash == NULL || text[1] == '\0')
		return false;
	range->is_given = read_end(text, (size_t)(dash - text), 0, &range->least) &&
	                  read_end(dash + 1, strlen(dash + 1), UINT64_MAX, &range->most);
	return range->is_given;
}

static bool check_range(const char *option, const AddressRange *range, GError **error)
{
	if (range->least <= range->most)
		return true;
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_USAGE, "%s: the range ends before it begins", option);
	return false;
}

/* "parse" is also "parse(int)", which few would type. */
static bool is_named(const char *known, const char *name)
{
	size_t length = strlen(name);

	return known != NULL && strncmp(known, name, length) == 0 &&
	       (known[length] == '\0' || known[length] == '(');
}

static bool is_path(const char *path, const char *name)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return g_strcmp0(path, name) == 0 || (slash != NULL && strcmp(slash + 1, name) == 0);
}

static bool choose_functions(Filter *self, const char *name, GError **error)
{
	const GArray *functions = lode_code_of(self->profile)->functions;
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	bool is_found = false;

	self->functions = g_new0(bool, functions->len + 1);
	for (guint i = 0; i < functions->len; i++) {
		const LodeFunction *function = &LODE_AT(functions, LodeFunction, i);
		const char *path = lode_profile_image(self->profile, function->image)->path;
		self->functions[i] = is_named(function->name, name) ||
		                     g_strcmp0(function->symbol, name) == 0 || is_path(path, name);
		is_found = is_found || self->functions[i];
		if (function->name != NULL)
			g_ptr_array_add(names, function->name);
	}
	return is_found || fail_name("--pc", "function or image", name, names, error);
}

static const char *type_name(const Filter *self, const LodeDataObject *object)
{
	if (object->type >= self->memory->types->len)
		return NULL;
	return LODE_AT(self->memory->types, LodeDataType, object->type).name;
}

static const char *site_name(const Filter *self, const LodeDataObject *object)
{
	if (object->site >= self->memory->sites->len)
		return NULL;
	return LODE_AT(self->memory->sites, LodeAllocationSite, object->site).name;
}

/* Whether any layer knows the object by this name. */
static bool is_object(const Filter *self, const LodeDataObject *object, const char *name)
{
	return g_strcmp0(object->name, name) == 0 || g_strcmp0(object->variable, name) == 0 ||
	       g_strcmp0(type_name(self, object), name) == 0 ||
	       g_strcmp0(site_name(self, object), name) == 0 || is_path(object->mapping, name);
}

static bool choose_objects(Filter *self, const char *name, GError **error)
{
	const GArray *objects = self->memory->objects;
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	bool is_found = false;

	self->objects = g_new0(bool, objects->len + 1);
	for (guint i = 0; i < objects->len; i++) {
		const LodeDataObject *object = &LODE_AT(objects, LodeDataObject, i);
		self->objects[i] = is_object(self, object, name);
		is_found = is_found || self->objects[i];
		g_ptr_array_add(names, object->name);
	}
	return is_found || fail_name("--address", "object", name, names, error);
}

static bool choose_places(Filter *self, GError **error)
{
	const char *pc = self->options->pc, *address = self->options->address;

	if (pc != NULL && !read_range(pc, &self->pc) && !choose_functions(self, pc, error))
		return false;
	if (address != NULL && !read_range(address, &self->address) &&
		!choose_objects(self, address, error))
		return false;
	return check_range("--pc", &self->pc, error) &&
	       check_range("--address", &self->address, error);
}

static bool asks_for_event(const LodeExpression *expression)
{
	return expression != NULL &&
	       lode_expression_has_attribute(expression, lode_sample_attribute_find("event"));
}

/* Errors in them are reported where samples are grouped. */
static bool are_groups_of_event(const Filter *self, const LodeExpressionScope *scope)
{
	const char *const *groups = self->options->groups;

	for (size_t i = 0; groups != NULL && groups[i] != NULL; i++) {
		g_autoptr(LodeExpression) group = lode_expression_new(groups[i], scope, NULL);
		if (asks_for_event(group))
			return true;
	}
	return false;
}

/* One access may be a miss of several levels: counted together, it would count several times. Nor
 * are accesses in windows added to samples of time. */
static void choose_default_event(Filter *self, const LodeExpressionScope *scope)
{
	guint n_events = lode_code_of(self->profile)->events->len;

	if (self->events != NULL || asks_for_event(self->where) || are_groups_of_event(self, scope))
		return;
	uint32_t event = lode_simulated_events_default(self->profile);
	uint32_t apart = lode_window_samples_event_apart(self->profile);
	if (event == LODE_NONE && apart == LODE_NONE)
		return;
	self->events = g_new0(bool, n_events + 1);
	for (guint i = 0; i < n_events; i++)
		self->events[i] = event != LODE_NONE ? i == event : i != apart;
}

static bool parse_where(Filter *self, const LodeExpressionScope *scope, GError **error)
{
	if (self->options->where == NULL)
		return true;
	self->where = lode_expression_new(self->options->where, scope, error);
	if (self->where == NULL) {
		g_prefix_error(error, "--where: ");
		return false;
	}
	if (lode_expression_kind(self->where) != LODE_VALUE_BOOLEAN) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--where: '%.100s' is not a condition; compare it with something",
			self->options->where);
		return false;
	}
	self->evaluator = lode_evaluator_new(self->where, self->attributes);
	return true;
}

static bool choose_values(Filter *self, GError **error)
{
	g_autoptr(LodeExpressionScope)
		scope = lode_expression_scope_new(&lode_sample_attribute_source);

	if (!lode_expression_scope_define_all(scope, self->options->definitions, error) ||
		!parse_where(self, scope, error))
		return false;
	choose_default_event(self, scope);
	return true;
}

static bool filter_init(Filter *self, GError **error)
{
	if (self->options->loads_only)
		self->access |= LODE_ACCESS_LOAD;
	if (self->options->stores_only)
		self->access |= LODE_ACCESS_STORE;
	self->attributes = lode_sample_attributes_new(self->profile, self->options->own);
	return choose_events(self, error) && choose_threads(self, error) &&
	       choose_places(self, error) && choose_values(self, error);
}

static bool is_inside(const AddressRange *range, uint64_t address)
{
	return !range->is_given || (address >= range->least && address <= range->most);
}

static bool passes_options(const Filter *self, const LodeMemorySample *sample)
{
	if (self->events != NULL && !self->events[sample->event])
		return false;
	if (self->threads != NULL && !self->threads[sample->thread])
		return false;
	if (self->access != 0 && (sample->access & self->access) == 0)
		return false;
	if (self->objects != NULL &&
		(sample->object == LODE_NONE || !self->objects[sample->object]))
		return false;
	if (self->address.is_given && sample->rule == LODE_RULE_NONE)
		return false;
	return is_inside(&self->address, sample->address) &&
	       is_inside(&self->pc, sample->access_pc != 0 ? sample->access_pc : sample->pc);
}

static bool passes_functions(const Filter *self, const LodeMemorySample *sample)
{
	if (self->functions == NULL)
		return true;
	uint32_t function = lode_sample_attributes_function(self->attributes, sample);
	return function != LODE_NONE && self->functions[function];
}

/* A condition without a value, as of an attribute that the sample lacks, does not pass. */
static bool passes_where(
	Filter *self, const LodeMemorySample *sample, bool *out_passes, GError **error)
{
	LodeValue value = lode_value_of_boolean(true);

	if (self->evaluator != NULL && !lode_evaluator_run(self->evaluator, sample, &value, error))
		return false;
	*out_passes = value.kind == LODE_VALUE_BOOLEAN && value.truth;
	return true;
}

bool lode_sample_work_goes_on(const LodeProgress *progress, GError **error)
{
	if (!lode_progress_is_cancelled(progress))
		return true;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}

static GArray *choose_samples(Filter *self, GError **error)
{
	const GArray *samples = self->memory->samples;
	g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		bool passes = false;
		if (i % LODE_SAMPLES_BETWEEN_LOOKS == 0 &&
			!lode_sample_work_goes_on(self->options->progress, error))
			return NULL;
		if (!passes_options(self, sample) || !passes_functions(self, sample))
			continue;
		if (!passes_where(self, sample, &passes, error)) {
			g_prefix_error(error, "--where: ");
			return NULL;
		}
		if (passes)
			g_array_append_val(chosen, i);
	}
	return g_steal_pointer(&chosen);
}

GArray *lode_sample_filter_apply(
	const LodeProfile *profile, const LodeSampleFilterOptions *options, GError **error)
{
	g_auto(Filter) filter = {
		.profile = profile, .memory = lode_memory_of(profile), .options = options};

	if (lode_memory_of(profile) == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no data addresses were recorded in this profile");
		return NULL;
	}
	if (!filter_init(&filter, error))
		return NULL;
	return choose_samples(&filter, error);
}
