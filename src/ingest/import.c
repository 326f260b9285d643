/* SPDX-License-Identifier: MIT */
/* Looks at the recordings, and hands them to the reader of their format. */
#include "ingest/import.h"

#include "base/error.h"
#include "ingest/join.h"
#include "ingest/user_attributes.h"
#include "sources/callgrind.h"
#include "sources/flow_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef enum {
	FORMAT_CALLGRIND,
	FORMAT_FLOW,
	FORMAT_UNKNOWN,
} Format;

static bool detect_format(const char *path, Format *out_format, GError **error)
{
	char start[512];
	FILE *file = fopen(path, "rbe");

	if (file == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot open: %s", path,
			g_strerror(errno));
		return false;
	}
	size_t size = fread(start, 1, sizeof(start), file);
	bool is_broken = ferror(file) != 0;
	fclose(file);
	if (is_broken) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: cannot read", path);
		return false;
	}
	*out_format = lode_callgrind_is_format(start, size)   ? FORMAT_CALLGRIND
	              : lode_flow_file_is_format(start, size) ? FORMAT_FLOW
	                                                      : FORMAT_UNKNOWN;
	return true;
}

/* The one format of all files. */
static bool detect_formats(const LodeImportOptions *options, Format *out_format, GError **error)
{
	if (options->n_paths == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "no recording given");
		return false;
	}
	for (size_t i = 0; i < options->n_paths; i++) {
		Format format;
		if (!detect_format(options->paths[i], &format, error))
			return false;
		if (format == FORMAT_UNKNOWN) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
				"%s: neither callgrind output nor a flow file", options->paths[i]);
			return false;
		}
		if (format == FORMAT_FLOW && options->n_paths > 1) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"%s: a flow file cannot be imported with other recordings",
				options->paths[i]);
			return false;
		}
		*out_format = format;
	}
	return true;
}

static LodeProfile *import_callgrind(
	const LodeImportOptions *options, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeLoadMapSet) maps = lode_load_map_set_new();
	g_autoptr(LodeRecording) recording = NULL;

	for (size_t i = 0; i < options->n_maps; i++)
		if (!lode_load_map_set_read(maps, options->maps[i], error))
			return NULL;
	recording = lode_callgrind_read(options->paths, options->n_paths, progress, error);
	if (recording == NULL)
		return NULL;
	return lode_join_recording(recording, maps, options, progress, error);
}

static LodeProfile *import_flow_file(
	const LodeImportOptions *options, const LodeProgress *progress, GError **error)
{
	if (options->n_maps > 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "a flow file has no load map");
		return NULL;
	}
	return lode_flow_file_read(options->paths[0], progress, error);
}

static bool apply_attribute_files(LodeProfile *profile, const LodeImportOptions *options,
	const LodeProgress *progress, GError **error)
{
	for (size_t i = 0; i < options->n_attribute_files; i++) {
		const char *path = options->attribute_files[i];
		g_autoptr(LodeAttributeFile) file = lode_attribute_file_read(path, progress, error);
		if (file == NULL)
			return false;
		lode_user_attributes_apply(profile, file, path);
	}
	return true;
}

LodeProfile *lode_import(
	const LodeImportOptions *options, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeProfile) profile = NULL;
	Format format;

	if (!detect_formats(options, &format, error))
		return NULL;
	profile = format == FORMAT_FLOW ? import_flow_file(options, progress, error)
	                                : import_callgrind(options, progress, error);
	if (profile == NULL || !apply_attribute_files(profile, options, progress, error))
		return NULL;
	return g_steal_pointer(&profile);
}
