/* SPDX-License-Identifier: MIT */
#include "model/findings.h"

#include "base/arrays/sort_order.h"
#include "base/text/words.h"
#include "model/profile.h"

#include <string.h>

static const char *const kind_words[] = {
	[LODE_FINDING_PATTERN] = "pattern", [LODE_FINDING_PLACE] = "place"};

LodeFindings *lode_findings_new(void)
{
	LodeFindings *self = g_new0(LodeFindings, 1);

	self->attributes = g_ptr_array_new_with_free_func(g_free);
	self->findings = g_array_new(FALSE, TRUE, sizeof(LodeFinding));
	self->elements = g_array_new(FALSE, TRUE, sizeof(LodeFindingElement));
	self->items = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->places = g_array_new(FALSE, TRUE, sizeof(LodeFindingPlace));
	return self;
}

void lode_findings_free(LodeFindings *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->attributes);
	g_array_unref(self->findings);
	g_array_unref(self->elements);
	g_array_unref(self->items);
	g_array_unref(self->places);
	g_free(self);
}

bool lode_finding_is_spread(const LodeFinding *self)
{
	return self->kind == LODE_FINDING_PATTERN && self->spread >= LODE_FINDING_MIN_SPREAD;
}

static const LodeFindingPlace *places_of(const LodeFindings *self, const LodeFinding *finding)
{
	return (const LodeFindingPlace *)(const void *)self->places->data + finding->first_place;
}

double lode_finding_each_in_all(const LodeFindings *self, uint32_t index, uint32_t *out_other)
{
	const LodeFinding *own = lode_findings_at(self, index);
	const LodeFindingPlace *places = places_of(self, own);
	g_autoptr(GHashTable) here = g_hash_table_new(NULL, NULL);
	double time = 0, others = 0, most = 0;

	*out_other = LODE_NONE;
	for (uint32_t i = 0; i < own->n_places; i++) {
		g_hash_table_add(here, GUINT_TO_POINTER(places[i].instruction));
		time += places[i].time;
	}
	for (uint32_t f = 0; f < self->findings->len && time > 0; f++) {
		const LodeFinding *other = lode_findings_at(self, f);
		double sum = 0;
		for (uint32_t i = 0; f != index && i < other->n_places; i++)
			if (g_hash_table_contains(
				    here, GUINT_TO_POINTER(places_of(self, other)[i].instruction)))
				sum += places_of(self, other)[i].time;
		others += sum;
		if (sum <= most)
			continue;
		most = sum;
		*out_other = f;
	}
	return time > 0 ? own->each * (1 + others / time) : own->each;
}

const char *lode_finding_kind_to_text(LodeFindingKind value)
{
	return kind_words[value];
}

int lode_finding_kind_from_text(const char *text)
{
	return lode_word_find(kind_words, G_N_ELEMENTS(kind_words), text);
}

/* The text before an attribute's value on the screen, and whether a comma separates it from the one
 * before: "load pointer, address from load". */
static const struct {
	const char *name_space, *words;
	bool is_clause;
} spoken[] = {
	{"op:", "", false},
	{"kind:", "", false},
	{"mem:", "", false},
	{"needs:", "needs ", true},
	{"address:", "address from ", true},
	{"chain:", "chain of ", true},
	{"at:", "at ", true},
	{"ev:", "", true},
};

/* "branch-miss:10" is an event at 10 % of the executions or more. */
static void append_event(GString *out, const char *value)
{
	const char *grade = strrchr(value, ':');

	if (grade != NULL && (strcmp(grade, ":10") == 0 || strcmp(grade, ":50") == 0))
		g_string_append_printf(out, "%.*s ≥ %s %%", (int)(grade - value), value, grade + 1);
	else
		g_string_append(out, value);
}

static void append_attribute(GString *out, const char *name, bool is_first)
{
	for (size_t i = 0; i < G_N_ELEMENTS(spoken); i++) {
		if (!g_str_has_prefix(name, spoken[i].name_space))
			continue;
		const char *value = name + strlen(spoken[i].name_space);
		if (!is_first)
			g_string_append(out, spoken[i].is_clause ? ", " : " ");
		g_string_append(out, spoken[i].words);
		if (strcmp(spoken[i].name_space, "ev:") == 0)
			append_event(out, value);
		else
			g_string_append(out, value);
		return;
	}
	g_string_append_printf(out, "%s%s", is_first ? "" : " ", name);
}

/* The order of an element's words: what it is, where, what it waits for, what happens. */
static int spoken_rank(const char *name)
{
	static const char *const order[] = {"op:", "kind:", "mem:", "obj:", "user:", "inl:", "at:",
		"loop:", "needs:", "address:", "chain:", "ev:"};
	int rank = 0;

	while (rank < (int)G_N_ELEMENTS(order) && !g_str_has_prefix(name, order[rank]))
		rank++;
	return rank;
}

LODE_ORDER_OF_POINTERS(
	compare_spoken, char, spoken_rank(left) - spoken_rank(right), strcmp(left, right))

/* Whether the mnemonic says the kind too: "idiv", "call", "jnz". Only of x86. */
static bool mnemonic_implies(const char *mnemonic, const char *kind)
{
	if (strcmp(kind, "branch") == 0 || strcmp(kind, "jump") == 0)
		return mnemonic[0] == 'j';
	return strstr(mnemonic, kind) != NULL;
}

static bool is_implied(const GPtrArray *names, guint index)
{
	const char *name = g_ptr_array_index(names, index);

	for (guint i = 0; i < index && g_str_has_prefix(name, "kind:"); i++) {
		const char *before = g_ptr_array_index(names, i);
		if (g_str_has_prefix(before, "op:") &&
			mnemonic_implies(before + strlen("op:"), name + strlen("kind:")))
			return true;
	}
	return false;
}

/* "load pointer, address from load"; "·": any instruction. */
static void append_element(
	GString *out, const LodeFindings *self, const LodeFindingElement *element)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (uint32_t j = 0; j < element->n_items; j++)
		g_ptr_array_add(names,
			g_ptr_array_index(self->attributes,
				g_array_index(self->items, uint32_t, element->first_item + j)));
	g_ptr_array_sort(names, compare_spoken);
	for (guint j = 0; j < names->len; j++)
		if (!is_implied(names, j))
			append_attribute(out, g_ptr_array_index(names, j), j == 0);
	if (names->len == 0)
		g_string_append(out, "·");
}

static const LodeFindingElement *element_at(
	const LodeFindings *self, const LodeFinding *finding, uint32_t i)
{
	return &g_array_index(self->elements, LodeFindingElement, finding->first_element + i);
}

char *lode_finding_text(const LodeFindings *self, const LodeFinding *finding)
{
	GString *out = g_string_new(NULL);

	for (uint32_t i = 0; i < finding->n_elements; i++) {
		g_string_append(out, i > 0 ? " → " : "");
		g_string_append(out, i == finding->focus ? "⟪" : "⟨");
		append_element(out, self, element_at(self, finding, i));
		g_string_append(out, i == finding->focus ? "⟫" : "⟩");
	}
	return g_string_free(out, FALSE);
}

char *lode_finding_focus_text(const LodeFindings *self, const LodeFinding *finding)
{
	GString *out = g_string_new(NULL);

	append_element(out, self, element_at(self, finding, finding->focus));
	if (strcmp(out->str, "·") == 0)
		g_string_assign(out, "instruction");
	else if (g_str_has_prefix(out->str, "at "))
		g_string_prepend(out, "instruction ");
	return g_string_free(out, FALSE);
}

void lode_attribute_append_text(GString *out, const char *name)
{
	append_attribute(out, name, true);
}

/* The namespace whose words a text begins with, such as "needs load"; NULL: none. */
static const char *spoken_namespace(const char *text, const char **out_rest)
{
	for (size_t i = 0; i < G_N_ELEMENTS(spoken); i++) {
		const char *words = spoken[i].words;
		size_t size = strlen(words);
		if (size == 0 || !g_str_has_prefix(text, words) || text[size] == ' ' ||
			text[size] == '\0')
			continue;
		*out_rest = text + size;
		return spoken[i].name_space;
	}
	return NULL;
}

/* Whether the value may have blanks: the name of a type, of a function, or the user's. */
static bool can_have_blanks(const char *name)
{
	return g_str_has_prefix(name, "obj:") || g_str_has_prefix(name, "inl:") ||
	       g_str_has_prefix(name, "user:");
}

/* The attributes of a text between two commas, brackets or arrows. */
static void add_attributes(GPtrArray *out, const char *text)
{
	char *before = NULL; /* the attribute whose value may go on */

	while (*(text += strspn(text, " ")) != '\0') {
		const char *rest = text, *name_space = spoken_namespace(text, &rest);
		size_t size = strcspn(rest, " ");
		g_autofree char *word = g_strndup(rest, size);
		unsigned grade;
		int length = 0;
		bool is_rest = before != NULL && name_space == NULL && strchr(word, ':') == NULL;
		char *name = is_rest ? g_strdup_printf("%s %s", before, word)
		                     : g_strconcat(
					       name_space != NULL ? name_space : "", word, NULL);
		text = rest + size;
		/* "branch-miss ≥ 10 %" */
		if (!is_rest && sscanf(text, " ≥ %3u %%%n", &grade, &length) == 1 && length > 0) {
			char *graded = g_strdup_printf("%s:%u", name, grade);
			g_free(name);
			name = graded;
			text += length;
		}
		if (is_rest)
			g_ptr_array_remove_index(out, out->len - 1);
		g_ptr_array_add(out, name);
		before = can_have_blanks(name) ? name : NULL;
	}
}

char *lode_attributes_plain(const char *text)
{
	static const char *const signs[] = {"⟪", "⟫", "⟨", "⟩", "→", "·"};
	GString *plain = g_string_new(text);

	for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
		g_string_replace(plain, signs[i], ", ", 0);
	return g_string_free(plain, FALSE);
}

GPtrArray *lode_attributes_read(const char *text)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *plain = lode_attributes_plain(text);
	g_auto(GStrv) parts = g_strsplit(plain, ",", -1);

	for (size_t i = 0; parts[i] != NULL; i++)
		add_attributes(names, parts[i]);
	return names;
}

void lode_finding_json(const LodeFindings *self, const LodeFinding *finding, LodeJsonStream *json)
{
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < finding->n_elements; i++) {
		const LodeFindingElement *element = &g_array_index(
			self->elements, LodeFindingElement, finding->first_element + i);
		lode_json_begin(json, '[');
		for (uint32_t j = 0; j < element->n_items; j++)
			lode_json_string(json, g_ptr_array_index(self->attributes,
						       g_array_index(self->items, uint32_t,
							       element->first_item + j)));
		lode_json_end(json, ']');
	}
	lode_json_end(json, ']');
}
