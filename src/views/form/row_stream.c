/* SPDX-License-Identifier: MIT */
#include "views/form/row_stream.h"

void lode_row_stream_init_json(LodeRowStream *self, LodeJsonStream *json)
{
	*self = (LodeRowStream){.json = json, .prefix = ""};
}

void lode_row_stream_init_csv(LodeRowStream *self, FILE *out)
{
	*self = (LodeRowStream){.has_titles = true, .prefix = ""};
	lode_csv_init(&self->csv, out);
}

void lode_row_begin(LodeRowStream *self)
{
	if (self->json == NULL)
		return;
	lode_json_line_begin(self->json, '{');
}

void lode_row_end(LodeRowStream *self)
{
	if (self->json != NULL)
		lode_json_end(self->json, '}');
	else
		lode_csv_end_row(&self->csv);
	self->has_titles = false;
}

/* Whether it was a title's turn. */
static bool put_title(LodeRowStream *self, const char *name)
{
	if (!self->has_titles)
		return false;
	g_autofree char *title = g_strconcat(self->prefix, name, NULL);
	lode_csv_text(&self->csv, title);
	return true;
}

void lode_row_csv_text(LodeRowStream *self, const char *name, const char *value)
{
	if (self->json == NULL && !put_title(self, name))
		lode_csv_text(&self->csv, value);
}

void lode_row_csv_number(LodeRowStream *self, const char *name, double value)
{
	if (self->json == NULL && !put_title(self, name))
		lode_csv_number(&self->csv, value);
}

void lode_row_text(LodeRowStream *self, const char *name, const char *value)
{
	if (self->json != NULL)
		lode_json_member_string(self->json, name, value);
	else
		lode_row_csv_text(self, name, value);
}

void lode_row_number(LodeRowStream *self, const char *name, double value)
{
	if (self->json != NULL)
		lode_json_member_number(self->json, name, value);
	else
		lode_row_csv_number(self, name, value);
}

void lode_row_flag(LodeRowStream *self, const char *name, bool value)
{
	if (self->json != NULL)
		lode_json_member_bool(self->json, name, value);
	else
		lode_row_csv_number(self, name, value);
}

void lode_row_begin_group(LodeRowStream *self, const char *name, const char *prefix)
{
	self->prefix = prefix;
	if (self->json == NULL)
		return;
	lode_json_member_begin(self->json, name, '{');
}

void lode_row_end_group(LodeRowStream *self)
{
	self->prefix = "";
	if (self->json != NULL)
		lode_json_end(self->json, '}');
}
