/* SPDX-License-Identifier: MIT */
#include "images/cores/core.h"

#include "base/bits.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

static const char builtin_cores[] =
#include "images/cores/cores_ini.h"
	;

enum { MAX_DEPTH = 8 /* groups that are like another */, LARGEST = 1000 /* of any figure */ };

#define OTHER "other"

static bool fail(GError **error, const char *group, const char *key, const char *what)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "group '%s': '%s' %s", group, key, what);
	return false;
}

/* The bit of a port's letter or digit; 0: it is none. */
static uint64_t port_bit(char name)
{
	if (g_ascii_isdigit(name))
		return LODE_BIT(name - '0');
	return g_ascii_islower(name) ? LODE_BIT(10 + name - 'a') : 0;
}

/* 0: broken. */
static uint64_t port_bits(const char *names)
{
	uint64_t bits = 0;

	for (; *names != '\0'; names++) {
		if (port_bit(*names) == 0)
			return 0;
		bits |= port_bit(*names);
	}
	return bits;
}

/* Words and keys that have numbers. */
static bool read_number(const char *text, double *out)
{
	char *end;

	double value = g_ascii_strtod(text, &end);
	if (end == text || *end != '\0' || !(value >= 0 && value <= LARGEST))
		return false;
	*out = value;
	return true;
}

/* "3.5*pq" */
static bool read_use(const char *text, LodePortUse *out)
{
	g_auto(GStrv) parts = g_strsplit(text, "*", 2);

	out->cycles = 1;
	if (parts[0] == NULL || (parts[1] != NULL && !read_number(parts[0], &out->cycles)))
		return false;
	out->ports = port_bits(parts[1] != NULL ? parts[1] : parts[0]);
	return out->ports != 0 && out->cycles > 0;
}

/* "3 1 01+5" */
static bool read_cost(const char *text, LodeClassCost *out)
{
	g_auto(GStrv) words = g_strsplit(text, " ", 4);

	if (g_strv_length(words) != 3 || !read_number(words[0], &out->latency) ||
		!read_number(words[1], &out->slots))
		return false;
	out->n_uses = 0;
	if (strcmp(words[2], "-") == 0)
		return true;
	g_auto(GStrv) uses = g_strsplit(words[2], "+", -1);
	for (char **use = uses; *use != NULL; use++) {
		if (out->n_uses == LODE_CORE_MAX_USES || !read_use(*use, &out->uses[out->n_uses]))
			return false;
		out->n_uses++;
	}
	return out->n_uses > 0;
}

static bool read_fusing(const char *text, LodeCore *self)
{
	self->fuses_arithmetic = strcmp(text, "arithmetic") == 0;
	return self->fuses_arithmetic || strcmp(text, "compare") == 0;
}

static bool read_class(LodeCore *self, const char *key, const char *text)
{
	for (unsigned i = 0; i < LODE_N_CLASSES; i++) {
		const char *name = lode_instruction_class_name((LodeInstructionClass)i);
		if (name != NULL && strcmp(name, key) == 0)
			return read_cost(text, &self->costs[i]);
	}
	return false;
}

static bool read_key(LodeCore *self, const char *key, const char *text)
{
	const struct {
		const char *key;
		double *value;
	} numbers[] = {
		{"width", &self->width},
		{"taken", &self->taken},
		{"modify-slots", &self->modify},
		{"wide", &self->wide},
		{"divider-256", &self->divider_256},
		{"divider-512", &self->divider_512},
		{"mispredict", &self->mispredict},
		{"add-after-add", &self->add_after_add},
		{"forward", &self->forward},
		{"forward-vector", &self->forward_vector},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		if (strcmp(numbers[i].key, key) == 0)
			return read_number(text, numbers[i].value);
	if (strcmp(key, "name") == 0) {
		g_free(self->name);
		self->name = g_strdup(text);
		return *text != '\0';
	}
	if (strcmp(key, "divider") == 0)
		return (self->divider_ports = port_bits(text)) != 0;
	if (strcmp(key, "without-512") == 0) {
		self->without_512 = port_bit(text[0]);
		self->with_512 = self->without_512 != 0 ? port_bit(text[1]) : 0;
		return self->with_512 != 0 && text[2] == '\0';
	}
	if (strcmp(key, "fuses") == 0)
		return read_fusing(text, self);
	if (strcmp(key, "like") == 0 || strcmp(key, "processors") == 0 ||
		strcmp(key, "similar") == 0)
		return true;
	return read_class(self, key, text);
}

/* The groups that it is like first. */
static bool read_group(LodeCore *self, GKeyFile *file, const char *group, int depth, GError **error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, NULL);
	g_autofree char *like = g_key_file_get_string(file, group, "like", NULL);

	if (like != NULL && (depth == 0 || !g_key_file_has_group(file, like)))
		return fail(error, group, "like", "is not an earlier group");
	if (like != NULL && !read_group(self, file, like, depth - 1, error))
		return false;
	for (char **key = keys; *key != NULL; key++) {
		g_autofree char *text = g_key_file_get_string(file, group, *key, NULL);
		if (text == NULL || !read_key(self, *key, text))
			return fail(error, group, *key, "is not known, or not as the head says");
	}
	return true;
}

/* "16-31" */
static bool is_in_range(const char *text, uint64_t model)
{
	g_auto(GStrv) ends = g_strsplit(text, "-", 2);
	uint64_t first, last;

	return ends[0] != NULL && g_ascii_string_to_unsigned(ends[0], 10, 0, 255, &first, NULL) &&
	       g_ascii_string_to_unsigned(
		       ends[1] != NULL ? ends[1] : ends[0], 10, 0, 255, &last, NULL) &&
	       first <= model && model <= last;
}

/* "VENDOR FAMILY MODELS" against "VENDOR,FAMILY,MODEL,STEPPING" */
static bool is_of(GKeyFile *file, const char *group, const char *key, char **processor)
{
	g_auto(GStrv) lists = g_key_file_get_string_list(file, group, key, NULL, NULL);
	uint64_t model;

	if (g_strv_length(processor) < 3 ||
		!g_ascii_string_to_unsigned(processor[2], 10, 0, 255, &model, NULL))
		return false;
	for (char **list = lists; list != NULL && *list != NULL; list++) {
		g_auto(GStrv) words = g_strsplit(*list, " ", -1);
		if (g_strv_length(words) < 3 || strcmp(words[0], processor[0]) != 0 ||
			strcmp(words[1], processor[1]) != 0)
			continue;
		for (char **range = words + 2; *range != NULL; range++)
			if (is_in_range(*range, model))
				return true;
	}
	return false;
}

#define SIMILAR " (similar)"

static GKeyFile *load(const char *text, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) reason = NULL;

	if (g_key_file_load_from_data(file, text, (gsize)-1, G_KEY_FILE_NONE, &reason))
		return g_steal_pointer(&file);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s", reason->message);
	return NULL;
}

static LodeCore *make_core(GKeyFile *file, const char *group, bool is_similar, GError **error)
{
	g_autoptr(LodeCore) self = g_new0(LodeCore, 1);

	self->wide = self->divider_256 = self->divider_512 = self->width = self->taken = 1;
	if (!g_key_file_has_group(file, group)) {
		fail(error, group, "name", "is missing");
		return NULL;
	}
	if (!read_group(self, file, group, MAX_DEPTH, error))
		return NULL;
	if (self->name == NULL || !(self->width >= 1) || !(self->taken > 0)) {
		fail(error, group, "name, width or taken", "is missing, or 0");
		return NULL;
	}
	if (is_similar) {
		char *name = g_strconcat(self->name, SIMILAR, NULL);
		g_free(self->name);
		self->name = name;
	}
	for (unsigned i = 0; i < LODE_N_CLASSES; i++)
		for (unsigned k = 0; k < self->costs[i].n_uses; k++)
			self->costs[i].uses[k].is_divider = (self->costs[i].uses[k].ports &
								    self->divider_ports) != 0;
	return g_steal_pointer(&self);
}

LodeCore *lode_core_parse(const char *text, const char *processor, GError **error)
{
	g_autoptr(GKeyFile) file = load(text, error);
	g_auto(GStrv) words = g_strsplit(processor != NULL ? processor : "", ",", -1);

	if (file == NULL)
		return NULL;
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	for (char **group = groups; *group != NULL; group++) {
		bool is_own = is_of(file, *group, "processors", words);
		if (is_own || is_of(file, *group, "similar", words))
			return make_core(file, *group, !is_own, error);
	}
	return make_core(file, OTHER, false, error);
}

LodeCore *lode_core_named(const char *name)
{
	g_autoptr(GKeyFile) file = load(builtin_cores, NULL);
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	bool is_similar = g_str_has_suffix(name, SIMILAR);

	for (char **group = groups; *group != NULL; group++) {
		g_autofree char *own = g_key_file_get_string(file, *group, "name", NULL);
		bool is_it = is_similar ? g_str_has_prefix(name, own) &&
		                                  strlen(name) == strlen(own) + strlen(SIMILAR)
		                        : strcmp(name, own) == 0;
		if (is_it)
			return make_core(file, *group, is_similar, NULL);
	}
	return NULL;
}

LodeCore *lode_core_new(const char *processor)
{
	g_autoptr(GError) error = NULL;
	LodeCore *self = lode_core_parse(builtin_cores, processor, &error);

	g_assert_no_error(error);
	return self;
}

void lode_core_free(LodeCore *self)
{
	if (self == NULL)
		return;
	g_free(self->name);
	g_free(self);
}

bool lode_core_cost(const LodeCore *self, const LodeInstructionWork *instruction,
	LodeInstructionClass of, LodeClassCost *out)
{
	*out = self->costs[of];
	if (of == LODE_CLASS_NONE)
		return true;
	if (out->slots == 0 && out->n_uses == 0)
		return false;
	for (unsigned i = 0; i < out->n_uses; i++) {
		LodePortUse *use = &out->uses[i];
		if (use->is_divider)
			use->cycles *= instruction->is_512   ? self->divider_512
			               : instruction->is_256 ? self->divider_256
			                                     : 1;
		else if (instruction->is_512)
			use->cycles *= self->wide;
		if (instruction->is_512 && (use->ports & self->without_512) != 0)
			use->ports = (use->ports & ~self->without_512) | self->with_512;
	}
	return true;
}
