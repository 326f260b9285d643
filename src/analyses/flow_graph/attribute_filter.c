/* SPDX-License-Identifier: MIT */
#include "analyses/flow_graph/attribute_filter.h"

#include "base/error.h"

#include <string.h>

static const char default_namespaces[] = "op,kind,mem,ev,at,loop,obj,needs,address,chain,user";
/* Of these there are so many that each multiplies the number of sequences. */
static const char default_excludes[] = "needs:load-*,address:load-*,chain:2";
static const char *const own_namespaces[] = {"op", "kind", "mem", "ev", "at", "loop", "inl", "obj",
	"needs", "address", "chain", "user", NULL};

/* Adds a comma-separated list of globs. */
static void add_excludes(LodeAttributeFilter *self, const char *list)
{
	g_auto(GStrv) globs = g_strsplit(list, ",", -1);

	for (char **glob = globs; *glob != NULL; glob++)
		if (**glob != '\0')
			g_ptr_array_add(self->excludes, g_pattern_spec_new(g_strstrip(*glob)));
}

static bool has_namespace(const char *attribute, const char *name)
{
	size_t length = strlen(name);

	return strncmp(attribute, name, length) == 0 && attribute[length] == ':';
}

static bool check_namespace(const LodeProfile *profile, const char *name, GError **error)
{
	if (g_strv_contains(own_namespaces, name))
		return true;
	for (guint i = 0; i < profile->attributes->len; i++)
		if (has_namespace(g_ptr_array_index(profile->attributes, i), name))
			return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"no attribute of this profile has the namespace '%s' (lode's own are %s, inl)",
		name, default_namespaces);
	return false;
}

bool lode_attribute_filter_init(LodeAttributeFilter *self, const LodeProfile *profile,
	const LodeMiningParameters *parameters, GError **error)
{
	const char *wanted = parameters->attributes;

	*self = (LodeAttributeFilter){0};
	self->excludes = g_ptr_array_new_with_free_func(
		(GDestroyNotify)(void (*)(void))g_pattern_spec_free);
	if (wanted == NULL && profile->frequency != LODE_FREQUENCY_GIVEN) {
		wanted = default_namespaces;
		add_excludes(self, default_excludes);
	}
	if (wanted != NULL)
		self->namespaces = g_strsplit(wanted, ",", -1);
	for (char **name = self->namespaces; name != NULL && *name != NULL; name++)
		if (!check_namespace(profile, g_strstrip(*name), error))
			return false;
	if (parameters->exclude != NULL)
		add_excludes(self, parameters->exclude);
	return true;
}

void lode_attribute_filter_clear(LodeAttributeFilter *self)
{
	g_clear_pointer(&self->namespaces, g_strfreev);
	g_clear_pointer(&self->excludes, g_ptr_array_unref);
}

bool lode_attribute_filter_has(const LodeAttributeFilter *self, const char *attribute)
{
	bool is_kept = self->namespaces == NULL || strchr(attribute, ':') == NULL;

	for (char **name = self->namespaces; !is_kept && *name != NULL; name++)
		is_kept = has_namespace(attribute, *name);
	for (guint i = 0; is_kept && i < self->excludes->len; i++)
		is_kept = !g_pattern_spec_match_string(
			g_ptr_array_index(self->excludes, i), attribute);
	return is_kept;
}
