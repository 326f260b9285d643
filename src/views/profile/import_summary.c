/* SPDX-License-Identifier: MIT */
#include "views/profile/import_summary.h"

#include "base/text/number_format.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "views/figures/event_values.h"
#include "views/form/display_text.h"
#include "views/form/shell_word.h"
#include "views/observed/observed_summary.h"
#include "views/profile/missing_files.h"

static void write_count(FILE *out, double count, const char *one, const char *many)
{
	fprintf(out, "%s %s, ", LODE_COUNT_TEXT(count), count == 1 ? one : many);
}

static void write_unresolved(const LodeProfile *profile, const char *path, FILE *out)
{
	char share[LODE_NUMBER_SIZE];
	bool is_sampled = profile->run.n_samples > 0;
	const LodeEvent *weight = lode_profile_event(profile, profile->code.weight_event);
	double total = is_sampled ? weight->total : profile->run.total_count, part = 0;

	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		part += is_sampled ? row->weight : row->count;
	}
	if (profile->unresolved->len == 0)
		return;
	g_autofree char *quoted = lode_shell_word(path);
	if (part <= 0) {
		lode_display_line(out, "not everything is certain; lode info %s says why", quoted);
		return;
	}
	lode_number_format_share(total > 0 ? part / total : 0, share);
	lode_display_line(out, "not everything could be resolved (%s of %s); lode info %s says why",
		share, is_sampled ? weight->name : "the executions", quoted);
}

static void write_missing(const LodeProfile *profile, FILE *out)
{
	enum { SHOWN = 3 };
	g_autoptr(GArray) files = lode_missing_files_new(profile);
	double share = 0;

	for (guint i = 0; i < files->len; i++)
		share += g_array_index(files, LodeMissingFile, i).share;
	if (files->len == 0)
		return;
	lode_display_line(out, "%s in files that were not found:", LODE_SHARE_TEXT(share));
	for (guint i = 0; i < MIN(files->len, SHOWN); i++) {
		const LodeMissingFile *file = &g_array_index(files, LodeMissingFile, i);
		const LodeImage *image = lode_profile_image(profile, file->image);
		lode_display_line(out, "  %s %s, build id %s", LODE_SHARE_TEXT(file->share),
			image->path, image->build_id != NULL ? image->build_id : "not known");
	}
	if (files->len > SHOWN)
		lode_display_line(out, "  and %u more", files->len - SHOWN);
	lode_display_line(out, "%s", lode_missing_files_remedy);
}

void lode_import_summary_write(const LodeProfile *profile, const char *path, FILE *out)
{
	g_autofree char *windows = lode_observed_windows_text(profile);
	lode_display_line(out, "%s: %s (%s, %s frequencies%s%s)", path,
		profile->run.program != NULL ? profile->run.program : "unknown program",
		profile->run.creator, lode_frequency_to_text(profile->run.frequency),
		*windows != '\0' ? ", " : "", windows);
	write_count(out, profile->code.images->len, "image", "images");
	write_count(out, profile->code.functions->len, "function", "functions");
	write_count(out, profile->code.instructions->len, "instruction", "instructions");
	if (profile->run.frequency != LODE_FREQUENCY_INFERRED)
		write_count(out, profile->run.total_count, "execution", "executions");
	const LodeEvent *weight = lode_profile_event(profile, profile->code.weight_event);
	g_autoptr(GString) total = g_string_new(NULL);
	lode_event_value_append(total, profile, profile->code.weight_event, weight->total);
	lode_display_line(out, "%s %s", total->str, weight->name);
	write_missing(profile, out);
	write_unresolved(profile, path, out);
}
