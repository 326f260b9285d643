/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include "cli/verb_table.h"
#include "views/form/display_text.h"

#include <stdlib.h>
#include <string.h>

/* The columns are fixed, so that help is the same in a pipe, a terminal and the tests. */
enum { WIDTH = 88, NAME_COLUMN = 32 };

/* Writes words with line breaks; the cursor is in `column` and further lines begin at `indent`. */
static void write_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	size_t at = column;

	for (size_t i = 0; words[i] != NULL; i++) {
		size_t length = (size_t)g_utf8_strlen(words[i], -1);
		if (i > 0 && at + 1 + length > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (i > 0) {
			fputc(' ', out);
			at++;
		}
		fputs(words[i], out);
		at += length;
	}
	fputc('\n', out);
}

static void write_option(FILE *out, const LodeParameter *option)
{
	GString *left = g_string_new(NULL);

	if (option->letter != 0)
		g_string_printf(left, "  -%c, --%s", option->letter, option->name);
	else
		g_string_printf(left, "      --%s", option->name);
	if (option->kind != LODE_PARAMETER_FLAG)
		g_string_append_printf(left, "=%s", option->value);
	fputs(left->str, out);
	size_t width = (size_t)g_utf8_strlen(left->str, -1);
	if (width + 2 > NAME_COLUMN) {
		fputc('\n', out);
		width = 0;
	}
	fprintf(out, "%*s", (int)(NAME_COLUMN - width), "");
	write_wrapped(out, option->summary, NAME_COLUMN, NAME_COLUMN);
	g_string_free(left, TRUE);
}

static bool is_rare(const LodeParameterGroup *group, const LodeParameter *row)
{
	return lode_parameter_is_option(row) && (group->is_rare || row->is_rare);
}

/* A group may contain only parameters of the page. */
static void write_options(FILE *out, const LodeParameterGroup *group, LodeHelp help)
{
	bool has_title = false;

	for (const LodeParameter *row = group->rows; row->name != NULL; row++) {
		if (!lode_parameter_is_option(row) ||
			(help != LODE_HELP_ALL && is_rare(group, row)))
			continue;
		if (!has_title)
			fprintf(out, "\n%s:\n", group->title);
		has_title = true;
		write_option(out, row);
	}
}

/* Consecutive lines are one paragraph; lines that begin with a space are kept as they are. */
static void write_description(FILE *out, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GString *paragraph = g_string_new(NULL);

	for (size_t i = 0; lines[i] != NULL; i++) {
		bool is_prose = lines[i][0] != ' ' && lines[i][0] != '\0';
		bool is_last = lines[i + 1] == NULL || lines[i + 1][0] == ' ' ||
		               lines[i + 1][0] == '\0';
		if (!is_prose) {
			fprintf(out, "%s\n", lines[i]);
			continue;
		}
		g_string_append_printf(paragraph, "%s%s", paragraph->len > 0 ? " " : "", lines[i]);
		if (!is_last)
			continue;
		write_wrapped(out, paragraph->str, 0, 0);
		g_string_truncate(paragraph, 0);
	}
	g_string_free(paragraph, TRUE);
}

/* The text is generated first, then written line by line with substitutes for characters that the
 * charset lacks. */
typedef struct {
	char *text;
	size_t size;
	FILE *stream;
} Page;

static FILE *page_begin(Page *self)
{
	*self = (Page){.stream = open_memstream(&self->text, &self->size)};
	return self->stream;
}

static void page_put(Page *self, FILE *out)
{
	fclose(self->stream);
	g_auto(GStrv) lines = g_strsplit(self->text, "\n", -1);
	/* The last line break is followed by an empty line. */
	for (size_t i = 0; lines[i] != NULL && lines[i + 1] != NULL; i++)
		lode_display_line(out, "%s", lines[i]);
	free(self->text);
}

static guint count_rare(const LodeParameterGroup *groups)
{
	guint n = 0;

	for (; groups->title != NULL; groups++)
		for (const LodeParameter *row = groups->rows; row->name != NULL; row++)
			n += is_rare(groups, row);
	return n;
}

/* The first paragraph of a description, and its examples. */
static void write_beginning(FILE *out, const char *description)
{
	const char *end = strstr(description, "\n\n"), *examples = strstr(description, "Examples:");
	g_autofree char *first = end != NULL ? g_strndup(description, (gsize)(end - description))
	                                     : g_strdup(description);

	write_description(out, first);
	if (examples != NULL && end != NULL && examples > end) {
		fputc('\n', out);
		write_description(out, examples);
	}
}

static void write_verb(const LodeVerb *verb, LodeHelp help, FILE *out)
{
	g_autofree LodeParameterGroup *groups = lode_verb_groups(verb);
	guint n_rare = help != LODE_HELP_ALL ? count_rare(groups) : 0;

	fprintf(out, "Usage: lode %s [OPTION…]%s%s\n\n", verb->name,
		verb->arguments[0] != '\0' ? " " : "", verb->arguments);
	g_autofree char *first = g_utf8_strup(verb->summary, 1);
	g_autofree char *summary = g_strconcat(first, verb->summary + 1, ".", NULL);
	write_wrapped(out, summary, 0, 0);
	for (const LodeParameterGroup *group = groups; group->title != NULL; group++)
		write_options(out, group, help);
	if (n_rare > 0)
		fprintf(out, "%*s%u more options and all that is to say: --help=all\n", NAME_COLUMN,
			"", n_rare);
	if (verb->description == NULL)
		return;
	fputc('\n', out);
	(n_rare > 0 ? write_beginning : write_description)(out, verb->description);
}

void lode_help_write_verb(const LodeVerb *verb, LodeHelp help, FILE *out)
{
	Page page;

	write_verb(verb, help, page_begin(&page));
	page_put(&page, out);
}

void lode_help_write_verbs(const char *first_word, FILE *out)
{
	g_autofree char *beginning = g_strconcat(first_word, " ", NULL);

	lode_display_line(out, "Usage: lode %s VERB [OPTION…] [ARGUMENT…]", first_word);
	fputs("\nVerbs:\n", out);
	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		if (g_str_has_prefix(lode_verbs[i]->name, beginning))
			fprintf(out, "  %-15s %s\n", lode_verbs[i]->name, lode_verbs[i]->summary);
	fprintf(out, "\n'lode %s VERB --help' says more about a verb.\n", first_word);
}

void lode_help_write_overview(FILE *out)
{
	lode_display_line(out, "Usage: lode VERB [OPTION…] [ARGUMENT…]");
	fputs("\nSays why a program takes time, where, and what to change.\n\n"
	      "Begin with what you have:\n"
	      "  a program               lode run -- ./program argument\n"
	      "  a service that runs     lode run -p PID --duration 10\n"
	      "  the same, changed       lode diff x.lode.old x.lode\n"
	      "  a perf.data             lode import perf.data -o x.lode; lode report x.lode\n"
	      "  a question about data   lode memory record -- ./program; lode memory x.lode\n"
	      "  a browser               lode serve x.lode\n\n"
	      "Verbs, from recording to viewing:\n",
		out);
	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		fprintf(out, "  %-15s %s\n", lode_verbs[i]->name, lode_verbs[i]->summary);
	fputs("\n"
	      "Options:\n"
	      "  -h, --help      show this help and exit; 'lode VERB --help' for a verb\n"
	      "  -V, --version   show the version and exit\n"
	      "      --completion=bash|zsh\n"
	      "                  print the completion script of a shell and exit\n"
	      "\n"
	      "Exit status: 0 success, 1 failure, 2 wrong usage; verbs that run a program exit\n"
	      "with its status.\n"
	      "'man lode' says more, 'man lode-VERB' about a verb.\n",
		out);
}
