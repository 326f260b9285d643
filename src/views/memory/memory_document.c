/* SPDX-License-Identifier: MIT */
#include "views/memory/memory_document.h"

#include "model/run/program_run.h"
#include "views/form/display_text.h"
#include "views/memory/memory_totals.h"
#include "views/profile/profile_json.h"

static void write_text(const LodeMemoryDocument *self, const LodeListing *listing,
	const LodeMemoryViewOptions *options, FILE *out)
{
	const LodeProgramRun *run = lode_program_run_of(self->profile);
	const LodeTerminal *terminal = &options->terminal;

	lode_display_print(terminal, out, "%s · %s · weight: %s",
		run->program != NULL ? run->program : "?", self->subject,
		lode_totals_weight_text(options->notes));
	if (self->has_head)
		lode_memory_notes_head(options->notes, terminal, out);
	if (self->parts->write_lines != NULL)
		self->parts->write_lines(self, terminal, out);
	fputc('\n', out);
	if (listing->n_rows == 0)
		fprintf(out, "%s\n", self->nothing);
	else
		lode_listing_write_text(listing, terminal, out);
	fputc('\n', out);
	lode_memory_notes_text(options->notes, terminal, out);
}

static void write_json(const LodeMemoryDocument *self, const LodeListing *listing,
	const LodeMemoryViewOptions *options, FILE *out)
{
	LodeJsonStream json;

	lode_profile_json_open(&json, out, self->profile);
	if (self->parts->put_before != NULL)
		self->parts->put_before(self, &json);
	lode_memory_notes_json(options->notes, &json);
	lode_json_line(&json);
	if (self->parts->put_after != NULL)
		self->parts->put_after(self, &json);
	lode_listing_put_json(listing, &json);
	lode_json_end(&json, '}');
}

bool lode_memory_document_write(const LodeMemoryDocument *self,
	const LodeMemoryViewOptions *options, FILE *out, GError **error)
{
	LodeListing listing = self->listing;

	listing.user_data = self;
	if (options->format == LODE_VIEW_TEXT)
		write_text(self, &listing, options, out);
	else if (options->format == LODE_VIEW_JSON)
		write_json(self, &listing, options, out);
	else
		lode_listing_write_csv(&listing, out);
	return lode_view_flush(out, error);
}
