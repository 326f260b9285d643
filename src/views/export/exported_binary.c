/* SPDX-License-Identifier: MIT */
#include "views/export/exported_binary.h"

#include "base/error.h"
#include "model/profile.h"
#include "process/images/image_files.h"
#include "views/export/stack_export.h"

#include <math.h>
#include <string.h>

double lode_exported_binary_count(const LodeProfile *profile, uint32_t instruction)
{
	return profile->run.total_count > 0
	               ? lode_profile_instruction(profile, instruction)->count
	               : lode_profile_event_value(profile, profile->code.weight_event, instruction);
}

double *lode_exported_binary_counts(const LodeProfile *profile)
{
	double *counts = g_new0(double, MAX(profile->code.images->len, 1));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t function = lode_profile_instruction(profile, i)->function;
		counts[lode_profile_function(profile, function)->image] +=
			lode_exported_binary_count(profile, i);
	}
	return counts;
}

double lode_exported_binary_scale(const LodeProfile *profile)
{
	const double largest = 1e9;
	double most = 0;

	if (profile->run.frequency == LODE_FREQUENCY_EXACT)
		return 1;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		most = MAX(most, lode_exported_binary_count(profile, i));
	return most > 0 ? largest / most : 1;
}

uint64_t lode_exported_binary_scaled(double count, double scale)
{
	const double limit = 1e18;

	return count > 0 ? (uint64_t)MIN(MAX(round(count * scale), 1), limit) : 0;
}

static bool is_named(const LodeImage *image, const char *name)
{
	return name != NULL && (strcmp(image->path, name) == 0 ||
				       strcmp(lode_stack_export_file_name(image->path), name) == 0);
}

uint32_t lode_exported_binary_choose(const LodeProfile *profile, const char *name, GError **error)
{
	g_autofree double *counts = lode_exported_binary_counts(profile);
	g_autofree char *program = profile->run.program != NULL
	                                   ? g_strndup(profile->run.program,
						     strcspn(profile->run.program, " "))
	                                   : NULL;
	const char *wanted = name != NULL      ? name
	                     : program != NULL ? lode_stack_export_file_name(program)
	                                       : NULL;
	uint32_t found = LODE_NONE, most = LODE_NONE;

	for (uint32_t i = 0; i < profile->code.images->len; i++) {
		const LodeImage *image = lode_profile_image(profile, i);
		if (image->kind != LODE_IMAGE_FILE || counts[i] <= 0)
			continue;
		if (most == LODE_NONE || counts[i] > counts[most])
			most = i;
		if (is_named(image, wanted) && (found == LODE_NONE || counts[i] > counts[found]))
			found = i;
	}
	if (found == LODE_NONE && name == NULL)
		found = most;
	if (found == LODE_NONE && name != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no code of '%s'; 'lode info' lists the images", name);
	else if (found == LODE_NONE)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no code of any binary: compilers have no use for it");
	return found;
}

/* Whether the functions are those of the profile, byte by byte, as far as it has them. */
static bool has_same_code(
	const LodeProfile *profile, uint32_t image, const LodeBinaryImage *binary, GError **error)
{
	const char *path = lode_profile_image(profile, image)->path;
	bool is_known = lode_profile_image(profile, image)->build_id != NULL;

	for (guint i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		gsize size;
		size_t n = 0;
		if (function->image != image || function->code == NULL)
			continue;
		const uint8_t *code = g_bytes_get_data(function->code, &size);
		const uint8_t *bytes = lode_binary_image_bytes(binary, function->address, &n);
		if (size > 0 && (bytes == NULL || n < size || memcmp(bytes, code, size) != 0)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
				"%s: not the file that ran: its code of %s, at "
				"0x%" G_GINT64_MODIFIER "x, is different",
				path, function->name, function->address);
			return false;
		}
		is_known = is_known || size > 0;
	}
	if (!is_known)
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: not known to be the file that ran: the profile has neither its "
			"build-id nor its code",
			path);
	return is_known;
}

LodeBinaryImage *lode_exported_binary_open(
	const LodeProfile *profile, uint32_t image, GError **error)
{
	const LodeImage *row = lode_profile_image(profile, image);
	const LodeImageIdentity identity = {.path = row->path, .build_id = row->build_id};
	g_autoptr(LodeImageFiles) files = lode_image_files_new(false);
	LodeFoundImageFile found = {0};

	lode_image_files_find(files, &identity, &found);
	const LodeBinaryImageOptions options = {.debug_file = found.debug};
	g_autoptr(LodeBinaryImage)
		binary = found.path != NULL ? lode_binary_image_open(found.path, &options, error)
	                                    : NULL;
	if (found.path == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND, "%s%s",
			found.why_not != NULL ? found.why_not : row->path,
			found.why_not != NULL ? "" : ": there is no such file");
	lode_found_image_file_clear(&found);
	if (binary == NULL || !has_same_code(profile, image, binary, error))
		return NULL;
	return g_steal_pointer(&binary);
}
