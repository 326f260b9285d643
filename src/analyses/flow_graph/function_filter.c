/* SPDX-License-Identifier: MIT */
#include "analyses/flow_graph/function_filter.h"

#include "base/error.h"
#include "model/code.h"
#include "model/mining_run.h"

#include <string.h>

/* The message of GRegex is the expression, ": " and the error. */
static const char *cause_of(const GError *reason)
{
	const char *cause = g_strrstr(reason->message, ": ");

	return cause != NULL ? cause + strlen(": ") : reason->message;
}

static bool compile_pattern(
	const char *option, const char *text, GRegex **out_regex, GError **error)
{
	if (text == NULL)
		return true;
	g_autoptr(GError) reason = NULL;
	*out_regex = g_regex_new(text, G_REGEX_OPTIMIZE, 0, &reason);
	if (*out_regex == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"%s: '%s' is not a regular expression: %s", option, text, cause_of(reason));
	return *out_regex != NULL;
}

bool lode_function_filter_init(
	LodeFunctionFilter *self, const LodeMiningParameters *parameters, GError **error)
{
	*self = (LodeFunctionFilter){0};
	return compile_pattern("--images", parameters->images, &self->images, error) &&
	       compile_pattern("--functions", parameters->functions, &self->functions, error);
}

void lode_function_filter_clear(LodeFunctionFilter *self)
{
	g_clear_pointer(&self->images, g_regex_unref);
	g_clear_pointer(&self->functions, g_regex_unref);
}

bool lode_function_filter_has(
	const LodeFunctionFilter *self, const LodeProfile *profile, const LodeFunction *function)
{
	const LodeImage *image = lode_profile_image(profile, function->image);

	if (self->images != NULL && !g_regex_match(self->images, image->path, 0, NULL))
		return false;
	return self->functions == NULL || g_regex_match(self->functions, function->name, 0, NULL);
}
