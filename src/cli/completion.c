/* SPDX-License-Identifier: MIT */
/*
 * Both scripts are tables: the options of each verb, whether an option takes a value, and the words
 * that a value may be. "text|json|csv" as the description of a value is a list of such words;
 * "FILE", "FIFO" and "DIR" are file names. Other arguments complete to profiles, recordings or
 * programs.
 */
#include "cli/help.h"

#include "cli/verb_table.h"

#include <string.h>

static bool is_file(const char *value)
{
	return strcmp(value, "FILE") == 0 || strcmp(value, "FIFO") == 0 ||
	       g_str_has_suffix(value, ".lode");
}

/* The words of "text|json|csv" with spaces between them; NULL: the text is not such a list. */
static char *words_of(const char *value)
{
	if (strchr(value, '|') == NULL)
		return NULL;
	return g_strdelimit(g_strdup(value), "|", ' ');
}

static bool takes_profiles(const LodeVerb *verb)
{
	return g_str_has_prefix(verb->arguments, "PROFILE");
}

static void write_bash_values(const LodeParameter *option, FILE *out)
{
	const char *value = option->value;
	g_autofree char *words = value != NULL ? words_of(value) : NULL;

	if (option->kind == LODE_PARAMETER_FLAG || !lode_parameter_is_option(option))
		return;
	fprintf(out, "\t--%s", option->name);
	if (option->letter != 0)
		fprintf(out, " | -%c", option->letter);
	if (words != NULL)
		fprintf(out, ") _lode_words '%s'; return ;;\n", words);
	else if (is_file(value))
		fputs(") _lode_files; return ;;\n", out);
	else if (strcmp(value, "DIR") == 0)
		fputs(") _lode_directories; return ;;\n", out);
	else
		fputs(") return ;;\n", out);
}

static bool has_two_words(const LodeVerb *verb)
{
	return strchr(verb->name, ' ') != NULL;
}

static void write_first_words(FILE *out)
{
	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		if (!has_two_words(lode_verbs[i]))
			fprintf(out, "%s ", lode_verbs[i]->name);
}

/* The shell takes the first case that matches: verbs of two words come before those of one. */
static void write_bash_dispatch(FILE *out, bool is_of_two_words)
{
	for (size_t i = 0; lode_verbs[i] != NULL; i++) {
		g_autofree char *name = lode_verb_name(lode_verbs[i], '_');
		if (has_two_words(lode_verbs[i]) == is_of_two_words)
			fprintf(out, "\t'%s%s) _lode_%s ;;\n", lode_verbs[i]->name,
				is_of_two_words ? "'" : " '*", name);
	}
}

/* The second words of verbs that begin with this one. */
static char *second_words(const LodeVerb *verb)
{
	GString *words = g_string_new(NULL);
	g_autofree char *first = g_strconcat(verb->name, " ", NULL);

	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		if (g_str_has_prefix(lode_verbs[i]->name, first))
			g_string_append_printf(words, "%s%s", words->len > 0 ? " " : "",
				lode_verbs[i]->name + strlen(first));
	return g_string_free(words, FALSE);
}

static void write_bash_verb(const LodeVerb *verb, FILE *out)
{
	g_autofree LodeParameterGroup *groups = lode_verb_groups(verb);
	const LodeParameter *option;

	g_autofree char *name = lode_verb_name(verb, '_');
	g_autofree char *words = second_words(verb);

	fprintf(out, "_lode_%s()\n{\n\tcase $previous in\n", name);
	for (size_t i = 0; (option = lode_parameter_row(groups, i)) != NULL; i++)
		write_bash_values(option, out);
	fputs("\tesac\n\tif [[ $current == -* ]]; then\n\t\t_lode_words '", out);
	for (size_t i = 0; (option = lode_parameter_row(groups, i)) != NULL; i++)
		if (lode_parameter_is_option(option))
			fprintf(out, "%s--%s", i > 0 ? " " : "", option->name);
	fprintf(out, "'\n\telse\n\t\t%s\n",
		verb->is_wrapper       ? "_lode_program"
		: takes_profiles(verb) ? "_lode_profiles"
				       : "_lode_files");
	if (words[0] != '\0')
		fprintf(out,
			"\t\t((COMP_CWORD != 2)) ||\n"
			"\t\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W '%s' -- "
			"\"$current\")\n",
			words);
	fputs("\tfi\n}\n\n", out);
}

static void write_bash(FILE *out)
{
	fputs("# bash completion for lode; made by 'lode --completion bash'\n\n"
	      "_lode_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\"); }\n\n"
	      "_lode_files()\n{\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\tmapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n}\n\n"
	      "_lode_directories()\n{\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\tmapfile -t COMPREPLY < <(compgen -d -- \"$current\")\n}\n\n"
	      "_lode_profiles()\n{\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\tmapfile -t COMPREPLY < <(compgen -f -X '!*.lode' -- \"$current\"\n"
	      "\t\tcompgen -d -- \"$current\")\n}\n\n"
	      "_lode_program()\n{\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\tmapfile -t COMPREPLY < <(compgen -c -- \"$current\"\n"
	      "\t\tcompgen -d -- \"$current\")\n}\n\n",
		out);
	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		write_bash_verb(lode_verbs[i], out);
	fputs("_lode()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} i\n"
	      "\tCOMPREPLY=()\n"
	      "\t# '--flow=exp' is three words.\n"
	      "\tif [[ $current == = ]]; then\n"
	      "\t\tcurrent=''\n"
	      "\telif [[ $previous == = ]] && ((COMP_CWORD > 2)); then\n"
	      "\t\tprevious=${COMP_WORDS[COMP_CWORD - 2]}\n"
	      "\tfi\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tif [[ $current == -* ]]; then\n"
	      "\t\t\t_lode_words '--help --version --completion'\n"
	      "\t\telse\n"
	      "\t\t\t_lode_words '",
		out);
	write_first_words(out);
	fputs("help'\n"
	      "\t\tfi\n\t\treturn\n\tfi\n"
	      "\t# After '--' stands a program with arguments of its own.\n"
	      "\tfor ((i = 2; i < COMP_CWORD - 1; i++)); do\n"
	      "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	      "\t\t\t_lode_files\n\t\t\treturn\n\t\tfi\n"
	      "\tdone\n"
	      "\tcase \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n",
		out);
	write_bash_dispatch(out, true);
	write_bash_dispatch(out, false);
	fputs("\t'help '* | '--help '*) _lode_words '", out);
	write_first_words(out);
	fputs("help' ;;\n\t'--completion '*) _lode_words 'bash zsh' ;;\n\tesac\n}\n\n"
	      "complete -F _lode lode\n",
		out);
}

/* Escapes for '…' and for […], as zsh's _arguments reads both. */
static char *zsh_text(const char *text)
{
	GString *escaped = g_string_new(text);

	g_string_replace(escaped, "\\", "\\\\", 0);
	g_string_replace(escaped, "[", "\\[", 0);
	g_string_replace(escaped, "]", "\\]", 0);
	g_string_replace(escaped, ":", "\\:", 0);
	g_string_replace(escaped, "'", "'\\''", 0);
	return g_string_free(escaped, FALSE);
}

static void write_zsh_value(const char *value, FILE *out)
{
	g_autofree char *words = words_of(value);
	g_autofree char *name = zsh_text(value);

	fprintf(out, ":%s:", name);
	if (words != NULL)
		fprintf(out, "(%s)", words);
	else if (is_file(value))
		fputs("_files", out);
	else if (strcmp(value, "DIR") == 0)
		fputs("_files -/", out);
	else
		fputc(' ', out);
}

static void write_zsh_option(const LodeParameter *option, FILE *out)
{
	const char *value = option->kind != LODE_PARAMETER_FLAG ? option->value : NULL;
	g_autofree char *description = zsh_text(option->summary);
	bool is_repeatable = option->kind == LODE_PARAMETER_TEXTS ||
	                     option->kind == LODE_PARAMETER_FILES;

	if (option->letter != 0) {
		fprintf(out, " \\\n\t\t'%s-%c%s[%s]", is_repeatable ? "*" : "", option->letter,
			value != NULL ? "+" : "", description);
		if (value != NULL)
			write_zsh_value(value, out);
		fputc('\'', out);
	}
	fprintf(out, " \\\n\t\t'%s--%s%s[%s]", is_repeatable ? "*" : "", option->name,
		value != NULL ? "=" : "", description);
	if (value != NULL)
		write_zsh_value(value, out);
	fputc('\'', out);
}

static void write_zsh_verb(const LodeVerb *verb, FILE *out)
{
	g_autofree LodeParameterGroup *groups = lode_verb_groups(verb);
	const LodeParameter *option;

	g_autofree char *name = lode_verb_name(verb, '_');

	fprintf(out, "_lode_%s() {\n\t_arguments", name);
	for (size_t i = 0; (option = lode_parameter_row(groups, i)) != NULL; i++)
		if (lode_parameter_is_option(option))
			write_zsh_option(option, out);
	fprintf(out, " \\\n\t\t%s\n}\n\n",
		verb->is_wrapper       ? "'(-)1:program:_command_names -e' '*::argument:_normal'"
		: takes_profiles(verb) ? "'1:profile:_files -g \"*.lode\"' '*:argument: '"
				       : "'*:file:_files'");
}

static void write_zsh(FILE *out)
{
	fputs("#compdef lode\n# zsh completion for lode; made by 'lode --completion zsh'\n\n", out);
	for (size_t i = 0; lode_verbs[i] != NULL; i++)
		write_zsh_verb(lode_verbs[i], out);
	fputs("_lode() {\n\tlocal -a verbs=(\n", out);
	for (size_t i = 0; lode_verbs[i] != NULL; i++) {
		g_autofree char *summary = zsh_text(lode_verbs[i]->summary);
		if (has_two_words(lode_verbs[i]))
			continue;
		fprintf(out, "\t\t'%s:%s'\n", lode_verbs[i]->name, summary);
	}
	fputs("\t\t'help:show the help of a verb'\n\t)\n"
	      "\tlocal curcontext=$curcontext state line\n"
	      "\t_arguments -C \\\n"
	      "\t\t'(- *)'{-h,--help}'[show help]' \\\n"
	      "\t\t'(- *)'{-V,--version}'[show the version]' \\\n"
	      "\t\t'(- *)--completion=[print a completion script]:shell:(bash zsh)' \\\n"
	      "\t\t'1:verb:->verb' '*::argument:->argument'\n"
	      "\tcase $state in\n"
	      "\tverb) _describe verb verbs ;;\n"
	      "\targument)\n"
	      "\t\tif [[ $line[1] == help ]]; then\n"
	      "\t\t\t_describe verb verbs\n"
	      "\t\telif (( $+functions[_lode_${line[1]}_${line[2]}] )); then\n"
	      "\t\t\tshift words\n\t\t\t(( CURRENT-- ))\n"
	      "\t\t\t_lode_${line[1]}_${line[2]}\n"
	      "\t\telif (( $+functions[_lode_$line[1]] )); then\n"
	      "\t\t\t_lode_$line[1]\n"
	      "\t\tfi ;;\n"
	      "\tesac\n}\n\n"
	      "_lode \"$@\"\n",
		out);
}

bool lode_completion_write(const char *shell, FILE *out)
{
	if (strcmp(shell, "bash") == 0)
		write_bash(out);
	else if (strcmp(shell, "zsh") == 0)
		write_zsh(out);
	else
		return false;
	return true;
}
