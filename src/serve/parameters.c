/* SPDX-License-Identifier: MIT */
#include "serve/parameters.h"

#include "base/error.h"
#include "views/format.h"

#include <string.h>

void lode_serve_parameters_init(LodeServeParameters *self)
{
	self->names = g_ptr_array_new_with_free_func(g_free);
	self->values = g_ptr_array_new_with_free_func(g_free);
}

void lode_serve_parameters_clear(LodeServeParameters *self)
{
	g_clear_pointer(&self->names, g_ptr_array_unref);
	g_clear_pointer(&self->values, g_ptr_array_unref);
}

void lode_serve_parameters_add(LodeServeParameters *self, const char *name, const char *value)
{
	g_ptr_array_add(self->names, g_strdup(name));
	g_ptr_array_add(self->values, g_strdup(value != NULL ? value : ""));
}

const char **lode_serve_parameters_texts(const LodeServeParameters *self, const char *name)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new();

	for (guint i = 0; i < self->names->len; i++) {
		const char *value = g_ptr_array_index(self->values, i);
		if (strcmp(g_ptr_array_index(self->names, i), name) == 0 && *value != '\0')
			g_ptr_array_add(found, (void *)value);
	}
	if (found->len == 0)
		return NULL;
	g_ptr_array_add(found, NULL);
	return (const char **)g_ptr_array_steal(found, NULL);
}

const char *lode_serve_parameters_text(const LodeServeParameters *self, const char *name)
{
	g_autofree const char **texts = lode_serve_parameters_texts(self, name);

	return texts != NULL ? texts[0] : NULL;
}

bool lode_serve_parameters_count(const LodeServeParameters *self, const char *name, uint64_t max,
	uint64_t *out_value, GError **error)
{
	const char *text = lode_serve_parameters_text(self, name);

	if (text == NULL || g_ascii_string_to_unsigned(text, 10, 0, max, out_value, NULL))
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"%s: '%s' is not a whole number up to %" G_GUINT64_FORMAT, name, text, max);
	return false;
}

bool lode_serve_parameters_share(
	const LodeServeParameters *self, const char *name, double *out_value, GError **error)
{
	const char *text = lode_serve_parameters_text(self, name);
	double value;

	if (text == NULL)
		return true;
	if (lode_view_share_from_text(text, &value) && value >= 0 && value <= 1) {
		*out_value = value;
		return true;
	}
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"%s: '%s' is not a share such as 2%% or 0.02", name, text);
	return false;
}

bool lode_serve_parameters_flag(const LodeServeParameters *self, const char *name)
{
	return g_strcmp0(lode_serve_parameters_text(self, name), "1") == 0;
}
