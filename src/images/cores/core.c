/* SPDX-License-Identifier: MIT */
#include "images/cores/core.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/text/rule_file.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char builtin_cores[] =
#include "images/cores/cores_ini.h"
	;

enum { LARGEST = 1000 /* of any figure */ };

#define OTHER "other"

/* A group of the file: what is not a number is read when it is chosen. */
typedef struct Group {
	const char *group;
	LodeCore core; /* its numbers */
	const struct Group *like;
	const char *name, *processors, *similar;
	const char *divider, *without_512, *fuses;
	const char *classes[LODE_N_CLASSES];
} Group;

#define NUMBER(member)                                                                             \
	offsetof(Group, core.member), LODE_RULE_KEY_NUMBER, .is_lent = true, .most = LARGEST
#define TEXT(member) offsetof(Group, member), LODE_RULE_KEY_TEXT

static const LodeRuleKey keys[] = {
	{"like", offsetof(Group, like), LODE_RULE_KEY_BASE},
	{"name", TEXT(name), .is_needed = true, .is_lent = true},
	{"processors", TEXT(processors)},
	{"similar", TEXT(similar)},
	{"width", NUMBER(width)},
	{"taken", NUMBER(taken)},
	{"modify-slots", NUMBER(modify)},
	{"wide", NUMBER(wide)},
	{"divider-256", NUMBER(divider_256)},
	{"divider-512", NUMBER(divider_512)},
	{"mispredict", NUMBER(mispredict)},
	{"add-after-add", NUMBER(add_after_add)},
	{"forward", NUMBER(forward)},
	{"forward-indexed", NUMBER(forward_indexed)},
	{"forward-vector", NUMBER(forward_vector)},
	{"divider", TEXT(divider), .is_lent = true},
	{"without-512", TEXT(without_512), .is_lent = true},
	{"fuses", TEXT(fuses), .is_lent = true},
};

/* The groups of a file, and their form, whose last keys are the classes. */
typedef struct {
	LodeRuleKey keys[G_N_ELEMENTS(keys) + LODE_N_CLASSES];
	LodeRuleForm form;
	LodeRuleFile *file; /* Group; NULL: it is broken */
} Cores;

static void cores_init(Cores *self, const char *text, GError **error)
{
	size_t n = G_N_ELEMENTS(keys);

	memcpy(self->keys, keys, sizeof(keys));
	for (unsigned i = 0; i < LODE_N_CLASSES; i++) {
		const char *name = lode_instruction_class_name((LodeInstructionClass)i);
		if (name != NULL)
			self->keys[n++] = (LodeRuleKey){name,
				offsetof(Group, classes) + i * sizeof(char *), LODE_RULE_KEY_TEXT,
				.is_lent = true};
	}
	self->form = (LodeRuleForm){"cores.ini", sizeof(Group), self->keys, n};
	self->file = lode_rule_file_read(&self->form, text, error);
}

static void cores_clear(Cores *self)
{
	lode_rule_file_free(self->file);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Cores, cores_clear)

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

/* What of a group is not as the head of the file says; NULL: nothing. */
static const char *read_texts(LodeCore *self, const Group *group)
{
	if (group->divider != NULL && (self->divider_ports = port_bits(group->divider)) == 0)
		return "divider";
	if (group->without_512 != NULL) {
		self->without_512 = port_bit(group->without_512[0]);
		self->with_512 = self->without_512 != 0 ? port_bit(group->without_512[1]) : 0;
		if (self->with_512 == 0 || group->without_512[2] != '\0')
			return "without-512";
	}
	self->fuses_arithmetic = g_strcmp0(group->fuses, "arithmetic") == 0;
	if (group->fuses != NULL && !self->fuses_arithmetic && strcmp(group->fuses, "compare") != 0)
		return "fuses";
	for (unsigned i = 0; i < LODE_N_CLASSES; i++)
		if (group->classes[i] != NULL && !read_cost(group->classes[i], &self->costs[i]))
			return lode_instruction_class_name((LodeInstructionClass)i);
	return NULL;
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

/* "VENDOR FAMILY MODELS;…" against "VENDOR,FAMILY,MODEL,STEPPING" */
static bool is_of(const char *text, char **processor)
{
	g_auto(GStrv) lists = g_strsplit(text != NULL ? text : "", ";", -1);
	uint64_t model;

	if (g_strv_length(processor) < 3 ||
		!g_ascii_string_to_unsigned(processor[2], 10, 0, 255, &model, NULL))
		return false;
	for (char **list = lists; *list != NULL; list++) {
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

static LodeCore *make_core(const Cores *cores, const Group *group, bool is_similar, GError **error)
{
	g_autoptr(LodeCore) self = g_memdup2(&group->core, sizeof(LodeCore));
	double *const of_one[] = {
		&self->width, &self->taken, &self->wide, &self->divider_256, &self->divider_512};
	double *const of_none[] = {&self->modify, &self->mispredict, &self->add_after_add,
		&self->forward, &self->forward_vector};

	self->name = g_strconcat(group->name, is_similar ? SIMILAR : "", NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(of_one); i++)
		*of_one[i] = isnan(*of_one[i]) ? 1 : *of_one[i];
	for (size_t i = 0; i < G_N_ELEMENTS(of_none); i++)
		*of_none[i] = isnan(*of_none[i]) ? 0 : *of_none[i];
	if (isnan(self->forward_indexed))
		self->forward_indexed = self->forward;
	const char *broken = !(self->width >= 1)  ? "width"
	                     : !(self->taken > 0) ? "taken"
	                                          : read_texts(self, group);
	if (broken != NULL) {
		lode_rule_file_fail(
			cores->file, group, broken, "what the head of the file says", error);
		return NULL;
	}
	for (unsigned i = 0; i < LODE_N_CLASSES; i++)
		for (unsigned k = 0; k < self->costs[i].n_uses; k++)
			self->costs[i].uses[k].is_divider = (self->costs[i].uses[k].ports &
								    self->divider_ports) != 0;
	return g_steal_pointer(&self);
}

LodeCore *lode_core_parse(const char *text, const char *processor, GError **error)
{
	g_auto(Cores) cores;
	g_auto(GStrv) words = g_strsplit(processor != NULL ? processor : "", ",", -1);

	cores_init(&cores, text, error);
	if (cores.file == NULL)
		return NULL;
	for (guint i = 0; i < cores.file->n; i++) {
		const Group *group = lode_rule_file_at(cores.file, i);
		bool is_own = is_of(group->processors, words);
		if (is_own || is_of(group->similar, words))
			return make_core(&cores, group, !is_own, error);
	}
	const Group *other = lode_rule_file_named(cores.file, OTHER);
	if (other != NULL)
		return make_core(&cores, other, false, error);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "cores.ini: no group '%s'", OTHER);
	return NULL;
}

LodeCore *lode_core_named(const char *name)
{
	g_auto(Cores) cores;
	bool is_similar = g_str_has_suffix(name, SIMILAR);
	size_t length = strlen(name) - (is_similar ? strlen(SIMILAR) : 0);

	cores_init(&cores, builtin_cores, NULL);
	for (guint i = 0; i < cores.file->n; i++) {
		const Group *group = lode_rule_file_at(cores.file, i);
		if (strlen(group->name) == length && strncmp(group->name, name, length) == 0)
			return make_core(&cores, group, is_similar, NULL);
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
