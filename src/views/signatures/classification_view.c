/* SPDX-License-Identifier: MIT */
#include "views/signatures/classification_view.h"

#include "base/text/number_format.h"
#include "model/code.h"
#include "model/run/program_run.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/function_name.h"
#include "views/form/shell_word.h"
#include "views/profile/profile_json.h"

#include <math.h>

typedef struct {
	const LodeProfile *profile;
	const GPtrArray *signatures;
	const LodeClassification *found;
	const LodeCapacity *capacity; /* NULL: not requested */
	const LodeClassificationViewOptions *options;
	FILE *out;
} View;

enum { MAX_TEXT_PLACES = 10, MAX_TEXT_MATCHES = 10 };

static const LodeSignature *signature_of(const View *self, const LodeSignatureMatch *match)
{
	return g_ptr_array_index(self->signatures, match->signature);
}

static const LodeSignatureMatch *match_at(const View *self, guint i)
{
	return &LODE_AT(self->found->matches, LodeSignatureMatch, i);
}

const char *lode_classification_verdict(const LodeClassification *found)
{
	return found->nearest != LODE_NONE ? "known"
	       : found->is_few             ? "few-samples"
	       : found->is_mixture         ? "mixture"
	                                   : "none";
}

/* How many signatures cannot be told from the first of the group. */
static unsigned count_group(const LodeClassification *found, uint32_t group)
{
	unsigned n = 0;

	for (guint i = 0; i < found->matches->len; i++)
		n += LODE_AT(found->matches, LodeSignatureMatch, i).group == group;
	return n;
}

/* Whether no nearer signature is of its group. */
static bool is_first_of_group(const LodeClassification *found, guint index)
{
	uint32_t group = LODE_AT(found->matches, LodeSignatureMatch, index).group;

	for (guint i = 0; i < index; i++)
		if (LODE_AT(found->matches, LodeSignatureMatch, i).group == group)
			return false;
	return true;
}

/* How many groups have a share. */
static unsigned count_groups(const LodeClassification *found)
{
	unsigned n = 0;

	for (guint i = 0; i < found->matches->len; i++)
		n += LODE_AT(found->matches, LodeSignatureMatch, i).group_share > 0 &&
		     is_first_of_group(found, i);
	return n;
}

/* --- text --- */

static void write_name(const View *self, const char *name, LodeStyle style)
{
	g_autofree char *shown = lode_display_text(name, self->options->terminal.is_ascii);

	lode_style_write(self->out, &self->options->terminal, style, shown);
}

/* "perl-a or perl-b": signatures whose shares cannot be told apart, the nearest first. */
static void write_group(const View *self, uint32_t group)
{
	const char *separator = "";

	for (guint i = 0; i < self->found->matches->len; i++) {
		const LodeSignatureMatch *match = match_at(self, i);
		if (match->group != group)
			continue;
		fputs(separator, self->out);
		write_name(self, signature_of(self, match)->name, LODE_STYLE_STRONG);
		separator = " or ";
	}
	if (count_group(self->found, group) > 1)
		fputs(", which cannot be told apart", self->out);
}

static void write_share(const View *self, double share, double error)
{
	fprintf(self->out, " (%s", LODE_SHARE_TEXT(share));
	fprintf(self->out, " ± %s)", LODE_SHARE_TEXT(error));
}

static void write_mixture(const View *self)
{
	const LodeClassification *found = self->found;
	const char *separator = count_groups(found) > 1 ? "a mixture of " : "";

	for (guint i = 0; i < found->matches->len; i++) {
		const LodeSignatureMatch *match = match_at(self, i);
		if (!(match->group_share > 0) || !is_first_of_group(found, i))
			continue;
		fputs(separator, self->out);
		write_group(self, match->group);
		write_share(self, match->group_share, match->group_error);
		separator = ", ";
	}
	if (found->rest_share >= 0.005) {
		fputs(" and unknown work", self->out);
		write_share(self, found->rest_share, found->rest_error);
	}
	fprintf(self->out, " of the %s", found->is_time ? "time" : "executions");
}

static void write_verdict(const View *self)
{
	const LodeClassification *found = self->found;
	const LodeSignatureMatch *nearest = match_at(self, 0);

	write_name(self, self->options->profile_path, LODE_STYLE_PLAIN);
	fputs(": ", self->out);
	if (found->nearest != LODE_NONE)
		write_group(self, lode_classification_match(found, found->nearest)->group);
	else if (found->is_mixture)
		write_mixture(self);
	else {
		if (found->is_few)
			fprintf(self->out, "too few samples (%.0f) to say; nearest is ",
				lode_program_run_of(self->profile)->n_samples);
		else
			fputs("unknown, none of these; nearest is ", self->out);
		write_name(self, signature_of(self, nearest)->name, LODE_STYLE_PLAIN);
		fprintf(self->out, " (distance %.3f, limit %.3f)\n", nearest->distance,
			nearest->limit);
		if (found->distance > found->limit && !found->is_few && count_groups(found) > 0)
			fprintf(self->out,
				"the best mixture is not near either (distance %.3f, limit %.3f)\n",
				found->distance, found->limit);
		return;
	}
	fprintf(self->out, " (distance %.3f, limit %.3f)\n", found->distance, found->limit);
}

/* Shares of something that is not near to the mixture say nothing. */
static bool has_shares(const LodeClassification *found)
{
	return found->nearest != LODE_NONE || found->is_mixture;
}

static void put_evidence(
	LodeJsonStream *json, const char *key, const LodeEvidence *evidence, uint32_t n)
{
	lode_json_member_begin(json, key, '[');
	for (uint32_t i = 0; i < n; i++) {
		lode_json_begin(json, '{');
		lode_json_member_string(json, "kind", lode_sequence_kind_to_text(evidence[i].kind));
		lode_json_member_string(json, "sequence", evidence[i].text);
		lode_json_member_number(json, "in_profile", evidence[i].in_profile);
		lode_json_member_number(json, "in_signature", evidence[i].in_signature);
		lode_json_member_number(json, "bits", evidence[i].bits);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

typedef struct {
	LodeSignatureMatch of;
	const char *name, *frequency, *group;
	uint32_t n_profiles;
	double shown_share, shown_error; /* no number: it says nothing */
} MatchRow;

static void put_evidences(LodeJsonStream *json, const void *row, const void *user_data)
{
	const LodeSignatureMatch *match = &((const MatchRow *)row)->of;

	(void)user_data;
	put_evidence(json, "for", match->evidence_for, match->n_for);
	put_evidence(json, "against", match->evidence_against, match->n_against);
}

static const LodeColumn match_columns[] = {
	{"signature", LODE_CELL_TEXT(MatchRow, name), .at = 6, .style = LODE_STYLE_NAME},
	{"frequency", LODE_CELL_TEXT(MatchRow, frequency)},
	{"profiles", LODE_CELL_NUMBER(MatchRow, n_profiles)},
	{"distance", LODE_CELL_NUMBER(MatchRow, of.distance), .at = 1, .decimals = 3},
	{"limit", LODE_CELL_NUMBER(MatchRow, of.limit), .at = 2, .decimals = 3, .dropped = 1},
	{"explained", LODE_CELL_SHARE(MatchRow, of.explained), .title = "explains", .at = 3,
		.dropped = 2},
	{"share", LODE_CELL_NUMBER(MatchRow, of.share)},
	{"share_error", LODE_CELL_NUMBER(MatchRow, of.share_error)},
	{"group", LODE_CELL_TEXT(MatchRow, group)},
	{"group_share", LODE_CELL_NUMBER(MatchRow, of.group_share)},
	{"group_error", LODE_CELL_NUMBER(MatchRow, of.group_error)},
	{.put = put_evidences},
	{NULL, LODE_CELL_SHARE(MatchRow, shown_share), .title = "share", .at = 4},
	{NULL, LODE_CELL_SHARE(MatchRow, shown_error), .title = "± 95 %", .at = 5, .dropped = 1},
};
const LodeColumns lode_signature_match_columns = LODE_COLUMNS(
	"signatures", match_columns, MatchRow);

static void fill_match(size_t i, void *out, const void *user_data)
{
	const View *self = user_data;
	const LodeSignatureMatch *match = match_at(self, (guint)i);
	const LodeSignature *signature = signature_of(self, match),
			    *group = g_ptr_array_index(self->signatures, match->group);
	bool is_shown = match->share > 0 && has_shares(self->found);

	*(MatchRow *)out = (MatchRow){*match, signature->name,
		lode_frequency_to_text(signature->frequency), group->name, signature->n_profiles,
		is_shown ? match->share : (double)NAN, is_shown ? match->share_error : (double)NAN};
}

static LodeListing matches_of(const View *self, guint n_most)
{
	return (LodeListing){&lode_signature_match_columns, MIN(self->found->matches->len, n_most),
		.fill = fill_match, .user_data = self};
}

static void write_matches(const View *self)
{
	const LodeListing matches = matches_of(self, MAX_TEXT_MATCHES);

	fputc('\n', self->out);
	lode_listing_write_text(&matches, &self->options->terminal, self->out);
	if (self->found->matches->len > MAX_TEXT_MATCHES)
		fprintf(self->out, "(and %u farther)\n",
			self->found->matches->len - MAX_TEXT_MATCHES);
}

static void write_evidence(
	const View *self, const char *title, const LodeEvidence *evidence, uint32_t n)
{
	if (n == 0)
		return;
	fprintf(self->out, "\n%s\n", title);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(self->out, "  %9s here, %9s there  ",
			LODE_SHARE_TEXT(evidence[i].in_profile),
			LODE_SHARE_TEXT(evidence[i].in_signature));
		write_name(self, evidence[i].text, LODE_STYLE_PLAIN);
		fputc('\n', self->out);
	}
}

static void write_place(const View *self, const LodeUnknownPlace *place)
{
	const LodeFunction *function = lode_profile_function(self->profile, place->function);
	const char *image = lode_profile_image(self->profile, function->image)->path;
	double error = lode_unknown_place_error(place);

	fprintf(self->out, "  %9s  ", LODE_SHARE_TEXT(place->executions));
	if (isfinite(error))
		fprintf(self->out, "± %9s  ", LODE_SHARE_TEXT(error));
	g_autofree char *name = lode_function_name_text(function->name, &self->options->terminal);
	write_name(self, name, LODE_STYLE_NAME);
	fputs("  ", self->out);
	write_name(self, image, LODE_STYLE_FAINT);
	if (place->is_new_file)
		fputs("  (a file that no signature has)", self->out);
	if (place->samples >= 0)
		fprintf(self->out, "  %.0f sample%s", place->samples,
			round(place->samples) == 1 ? "" : "s");
	if (place->end > place->address)
		fprintf(self->out,
			"  block 0x%" G_GINT64_MODIFIER "x-0x%" G_GINT64_MODIFIER "x (%s)",
			place->address, place->end, LODE_SHARE_TEXT(place->block_rest));
	fputc('\n', self->out);
}

/* "NAME@0xADDRESS", which annotate takes whatever else has that name. */
static char *place_subject(const View *self, const LodeUnknownPlace *place)
{
	const LodeFunction *function = lode_profile_function(self->profile, place->function);
	g_autofree char *name = function->address != 0
	                                ? g_strdup_printf("%s@0x%" G_GINT64_MODIFIER "x",
						  function->name, function->address)
	                                : g_strdup(function->name);

	return lode_shell_word(name);
}

static void write_rest(const View *self)
{
	const LodeClassification *found = self->found;
	const GArray *places = found->places;
	bool is_shown = found->has_rest;
	const LodeUnknownPlace *first = places->len > 0 ? &LODE_AT(places, LodeUnknownPlace, 0)
	                                                : NULL;

	fprintf(self->out, "\nin no signature: %s of the executions%s\n",
		LODE_SHARE_TEXT(is_shown ? found->rest_placed : found->rest),
		is_shown ? "" : ", scattered: what inputs of one workload differ by");
	/* One sample may be a library that is seldom sampled; the person can tell. */
	if (!is_shown && first != NULL && first->is_new_file)
		write_place(self, first);
	if (!is_shown)
		return;
	for (guint i = 0; i < MIN(places->len, MAX_TEXT_PLACES); i++)
		write_place(self, &LODE_AT(places, LodeUnknownPlace, i));
	if (places->len > MAX_TEXT_PLACES)
		fprintf(self->out, "  (and %u functions with less)\n",
			places->len - MAX_TEXT_PLACES);
	fprintf(self->out, "  %9s  scattered over functions that are known\n",
		LODE_SHARE_TEXT(MAX(found->rest - found->rest_placed, 0)));
	g_autofree char *path = lode_shell_word(self->options->profile_path);
	g_autofree char *subject = place_subject(self, first);
	lode_display_line(self->out, "see: lode annotate %s function %s", path, subject);
}

static void write_notes(const View *self)
{
	const LodeProgramRun *run = lode_program_run_of(self->profile);
	const LodeSignature *first = g_ptr_array_index(self->signatures, 0);

	if (self->found->covered < 0.99)
		fprintf(self->out, "\n%s of the %s in code that was read, and is compared\n",
			LODE_SHARE_TEXT(self->found->covered),
			self->found->is_time ? "time is" : "executions are");
	for (guint j = 0; j < self->signatures->len; j++) {
		const LodeSignature *other = g_ptr_array_index(self->signatures, j);
		if (other->frequency == run->frequency)
			continue;
		fprintf(self->out,
			"\nthe profile's executions are %s, those of %s are %s: distances are "
			"larger than among profiles of one kind\n",
			lode_frequency_to_text(run->frequency),
			first == other ? "signatures" : "some signatures",
			lode_frequency_to_text(other->frequency));
		return;
	}
}

static void write_figure(const View *self, double value, double deviation)
{
	if (value > 0 && isfinite(deviation))
		fprintf(self->out, "  %10.4g ± %-8.2g", value, deviation);
	else if (value > 0)
		fprintf(self->out, "  %10.4g ± %-8s", value, "unknown");
	else
		fprintf(self->out, "  %10s   %-8s", "-", "");
}

static void write_capacity(const View *self)
{
	const LodeCapacity *capacity = self->capacity;

	fprintf(self->out,
		"\ncapacity: %s of the processor time is used; it is used up at %.3g times this "
		"load\n"
		"  %20s  %21s  %21s\n",
		LODE_SHARE_TEXT(capacity->used), capacity->growth, "share of the machine",
		"units a second", "at most, alone growing");
	for (guint i = 0; i < capacity->rows->len; i++) {
		const LodeCapacityRow *row = &LODE_AT(capacity->rows, LodeCapacityRow, i);
		fprintf(self->out, "  %9s ± %8s", LODE_SHARE_TEXT(row->share),
			LODE_SHARE_TEXT(row->share_error));
		write_figure(self, row->rate, row->rate_error);
		write_figure(self, row->most, row->most_error);
		fputs("  ", self->out);
		if (row->signature == LODE_NONE)
			fputs("in no signature", self->out);
		else
			write_name(self,
				((const LodeSignature *)g_ptr_array_index(
					 self->signatures, row->signature))
					->name,
				LODE_STYLE_NAME);
		fputc('\n', self->out);
	}
	if (capacity->is_by_executions)
		fputs("  (a signature lacks its time per execution: every execution counts "
		      "alike)\n",
			self->out);
}

static void write_text(const View *self)
{
	const LodeSignatureMatch *nearest = match_at(self, 0);
	const char *name = signature_of(self, nearest)->name;
	g_autofree char *shown = lode_display_text(name, self->options->terminal.is_ascii);
	g_autofree char *with = g_strdup_printf("for %s", shown);
	g_autofree char *against = g_strdup_printf("against %s", shown);

	write_verdict(self);
	write_matches(self);
	write_evidence(self, with, nearest->evidence_for, nearest->n_for);
	write_evidence(self, against, nearest->evidence_against, nearest->n_against);
	write_rest(self);
	if (self->capacity != NULL)
		write_capacity(self);
	write_notes(self);
}

/* --- JSON --- */

static void put_place(const View *self, LodeJsonStream *json, const LodeUnknownPlace *place)
{
	const LodeFunction *function = lode_profile_function(self->profile, place->function);
	g_autofree char *address = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", place->address);
	g_autofree char *end = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", place->end);

	lode_json_line_begin(json, '{');
	lode_function_name_json(json, "function", function->name);
	lode_json_member_string(
		json, "image", lode_profile_image(self->profile, function->image)->path);
	lode_json_member_number(json, "executions", place->executions);
	lode_json_member_number(json, "executions_error", lode_unknown_place_error(place));
	lode_json_member_number(json, "rest", place->rest);
	lode_json_member_bool(json, "is_new_file", place->is_new_file);
	lode_json_member_string(json, "block", place->end > place->address ? address : NULL);
	lode_json_member_string(json, "block_end", place->end > place->address ? end : NULL);
	lode_json_member_number(json, "block_rest", place->block_rest);
	lode_json_end(json, '}');
}

static void put_capacity(const View *self, LodeJsonStream *json)
{
	lode_json_line(json);
	lode_json_member_begin(json, "capacity", '{');
	lode_json_member_number(json, "used", self->capacity->used);
	lode_json_member_number(json, "growth", self->capacity->growth);
	lode_json_member_bool(json, "is_by_executions", self->capacity->is_by_executions);
	lode_json_member_begin(json, "rows", '[');
	for (guint i = 0; i < self->capacity->rows->len; i++) {
		const LodeCapacityRow *row = &LODE_AT(self->capacity->rows, LodeCapacityRow, i);
		const LodeSignature *signature = row->signature != LODE_NONE
		                                         ? g_ptr_array_index(
								   self->signatures, row->signature)
		                                         : NULL;
		lode_json_begin(json, '{');
		lode_json_member_string(
			json, "signature", signature != NULL ? signature->name : NULL);
		lode_json_member_number(json, "share", row->share);
		lode_json_member_number(json, "share_error", row->share_error);
		lode_json_member_number(json, "rate", row->rate);
		lode_json_member_number(json, "rate_error", row->rate_error);
		lode_json_member_number(json, "most", row->most);
		lode_json_member_number(json, "most_error", row->most_error);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
	lode_json_end(json, '}');
}

static void write_json(const View *self)
{
	const LodeClassification *found = self->found;
	const LodeListing matches = matches_of(self, found->matches->len);
	LodeJsonStream json;

	lode_profile_json_begin(&json, self->out, self->profile, NULL);
	lode_json_member_string(&json, "verdict", lode_classification_verdict(found));
	lode_json_member_string(&json, "workload",
		found->nearest != LODE_NONE ? ((const LodeSignature *)g_ptr_array_index(
						       self->signatures, found->nearest))
						      ->name
					    : NULL);
	lode_json_member_number(&json, "distance", found->distance);
	lode_json_member_number(&json, "limit", found->limit);
	lode_json_member_string(&json, "shares_of", found->is_time ? "time" : "executions");
	lode_json_member_number(&json, "rest_share", found->rest_share);
	lode_json_member_number(&json, "rest_error", found->rest_error);
	lode_json_member_number(&json, "rest", found->rest);
	lode_json_member_number(&json, "rest_placed", found->rest_placed);
	lode_json_member_bool(&json, "has_rest", found->has_rest);
	lode_json_member_number(&json, "executions", found->executions);
	lode_json_member_number(&json, "covered", found->covered);
	lode_json_line(&json);
	lode_listing_put_json(&matches, &json);
	lode_json_line(&json);
	lode_json_member_begin(&json, "places", '[');
	for (guint i = 0; i < found->places->len; i++)
		put_place(self, &json, &LODE_AT(found->places, LodeUnknownPlace, i));
	lode_json_end(&json, ']');
	if (self->capacity != NULL)
		put_capacity(self, &json);
	lode_json_end(&json, '}');
}

/* --- CSV --- */

/* One table of signatures and places: of either, cells of the other are empty. */
typedef struct {
	const char *kind, *name, *image;
	double distance, limit, explained, share, share_error, executions, rest;
} CsvRow;

static const LodeColumn csv_columns[] = {
	{"kind", LODE_CELL_TEXT(CsvRow, kind)},
	{"name", LODE_CELL_TEXT(CsvRow, name)},
	{"image", LODE_CELL_TEXT(CsvRow, image)},
	{"distance", LODE_CELL_NUMBER(CsvRow, distance)},
	{"limit", LODE_CELL_NUMBER(CsvRow, limit)},
	{"explained", LODE_CELL_NUMBER(CsvRow, explained)},
	{"share", LODE_CELL_NUMBER(CsvRow, share)},
	{"share_error", LODE_CELL_NUMBER(CsvRow, share_error)},
	{"executions", LODE_CELL_NUMBER(CsvRow, executions)},
	{"rest", LODE_CELL_NUMBER(CsvRow, rest)},
};
const LodeColumns lode_classification_columns = LODE_COLUMNS("rows", csv_columns, CsvRow);

static void fill_csv(size_t number, void *out, const void *user_data)
{
	const View *self = user_data;
	guint n_matches = self->found->matches->len, i = (guint)number;

	if (i < n_matches) {
		const LodeSignatureMatch *match = match_at(self, i);
		*(CsvRow *)out = (CsvRow){"signature", signature_of(self, match)->name, NULL,
			match->distance, match->limit, match->explained, match->share,
			match->share_error, NAN, NAN};
		return;
	}
	const LodeUnknownPlace *place = &LODE_AT(
		self->found->places, LodeUnknownPlace, i - n_matches);
	const LodeFunction *function = lode_profile_function(self->profile, place->function);
	*(CsvRow *)out = (CsvRow){"rest", function->name,
		lode_profile_image(self->profile, function->image)->path, NAN, NAN, NAN, NAN, NAN,
		place->executions, place->rest};
}

static void write_csv(const View *self)
{
	const LodeListing listing = {&lode_classification_columns,
		self->found->matches->len + self->found->places->len, .fill = fill_csv,
		.user_data = self};

	lode_listing_write_csv(&listing, self->out);
}

bool lode_classification_view_write(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeClassification *found, const LodeCapacity *capacity,
	const LodeClassificationViewOptions *options, FILE *out, GError **error)
{
	const View self = {profile, signatures, found, capacity, options, out};

	if (options->format == LODE_VIEW_JSON)
		write_json(&self);
	else if (options->format == LODE_VIEW_CSV)
		write_csv(&self);
	else
		write_text(&self);
	return lode_view_flush(out, error);
}
