/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/starts/process_starts.h"

#include "base/text/command_words.h"

#include <string.h>

/* Commands within commands, and commands of a text: more are left out. */
enum { MOST_DEPTH = 32, MOST_COMMANDS = 1 << 14 };

/* Stands for expanded text until globs are made; no text has it. */
#define EXPANDED '\001'

struct LodeScriptCommands {
	GArray *commands; /* LodeScriptCommand */
	GStringChunk *names;
};

/* Where a text is read. */
typedef struct {
	LodeScriptCommands *out;
	const char *at;
	uint32_t line;
	const char *function;
	char *heredoc; /* the word that ends it; NULL: none begins in this line */
	int depth;
} Reader;

/* A simple command that is being read. */
typedef struct {
	GString *words; /* each ends with a line feed */
	GString *word;
	guint n_words, literal;
	uint32_t line;
	bool has_word;     /* also an empty one, in quotes */
	bool skips_word;   /* what follows is of a redirection */
	bool is_for_words; /* of `for` or `case`: no command */
} Command;

static void read_commands(Reader *self, char end);

static void command_clear(void *data)
{
	LodeScriptCommand *self = data;

	g_free(self->name);
	g_free(self->words);
	g_free(self->text);
}

/* A glob of the text: what is expanded, and what globs would take for more, stands for any. */
static char *glob_of(const char *text)
{
	char *glob = g_strdup(text), *to = glob;

	for (const char *from = text; *from != '\0'; from++) {
		bool is_any = *from == EXPANDED || *from == '*' || *from == '?';
		if (!is_any)
			*to++ = *from;
		else if (to == glob || to[-1] != '*')
			*to++ = '*';
	}
	*to = '\0';
	return glob;
}

static bool is_name_start(char c)
{
	return g_ascii_isalpha(c) || c == '_';
}

static bool is_assignment(const char *word)
{
	const char *at = word;

	if (!is_name_start(*at))
		return false;
	while (g_ascii_isalnum(*at) || *at == '_')
		at++;
	return at[0] == '=' || (at[0] == '+' && at[1] == '=') || at[0] == '[';
}

/* --- simple commands --- */

static void command_begin(Command *self)
{
	g_string_truncate(self->words, 0);
	g_string_truncate(self->word, 0);
	self->n_words = self->literal = 0;
	self->has_word = self->skips_word = self->is_for_words = false;
}

static void end_word(Reader *reader, Command *self)
{
	static const char *const before[] = {"if", "then", "else", "elif", "while", "until", "do",
		"!", "{", "time", "exec", "command", "nohup", "sudo", "env", "nice", "eval", NULL};
	static const char *const alone[] = {
		"for", "case", "select", "function", "fi", "done", "esac", "}", "in", NULL};
	const char *word = self->word->str;

	if (!self->has_word)
		return;
	if (self->skips_word) {
		self->skips_word = false;
	} else if (self->n_words == 0 && (g_strv_contains(before, word) || is_assignment(word))) {
		/* the command comes after it */
	} else if (self->n_words == 0 && g_strv_contains(alone, word)) {
		self->is_for_words = true;
		self->n_words++;
	} else {
		if (self->n_words == 0)
			self->line = reader->line;
		for (const char *at = word; *at != '\0'; at++)
			self->literal += *at != EXPANDED && *at != '*' && *at != '?';
		g_string_append(self->words, word);
		g_string_append_c(self->words, '\n');
		self->n_words++;
	}
	g_string_truncate(self->word, 0);
	self->has_word = false;
}

static void end_command(Reader *reader, Command *self)
{
	end_word(reader, self);
	GArray *commands = reader->out->commands;
	if (self->n_words > 0 && !self->is_for_words && commands->len < MOST_COMMANDS) {
		g_autofree char *first = g_strndup(
			self->words->str, strcspn(self->words->str, "\n"));
		bool is_known = strpbrk(first, "\001*?") == NULL;
		/* the folder of the program is not told */
		const char *slash = strrchr(first, '/');
		size_t folder = is_known && slash != NULL ? (size_t)(slash + 1 - first) : 0;
		const LodeScriptCommand one = {.line = self->line,
			.function = reader->function,
			.name = is_known ? g_strdup(first + folder) : NULL,
			.words = glob_of(self->words->str + folder),
			.literal = self->literal};
		g_array_append_val(commands, one);
	}
	command_begin(self);
}

static void add_char(Command *self, char c)
{
	g_string_append_c(self->word, c);
	self->has_word = true;
}

/* --- what is expanded --- */

/* To after the bracket that closes the one that was read. */
static void skip_balanced(Reader *self, char open, char close)
{
	int depth = 1;

	for (; *self->at != '\0' && depth > 0; self->at++) {
		depth += (*self->at == open) - (*self->at == close);
		self->line += *self->at == '\n';
	}
}

/* After a $. */
static void read_dollar(Reader *self, Command *command)
{
	add_char(command, EXPANDED);
	if (g_str_has_prefix(self->at, "((")) {
		self->at += 1;
		skip_balanced(self, '(', ')');
	} else if (*self->at == '(') {
		self->at++;
		read_commands(self, ')');
	} else if (*self->at == '{') {
		self->at++;
		skip_balanced(self, '{', '}');
	} else if (is_name_start(*self->at)) {
		while (g_ascii_isalnum(*self->at) || *self->at == '_')
			self->at++;
	} else if (*self->at != '\0' && strchr("@*#?$!-0123456789", *self->at) != NULL) {
		self->at++;
	}
}

static void read_single_quotes(Reader *self, Command *command)
{
	command->has_word = true;
	for (; *self->at != '\0' && *self->at != '\''; self->at++) {
		add_char(command, *self->at == '\n' ? ' ' : *self->at);
		self->line += *self->at == '\n';
	}
	self->at += *self->at != '\0';
}

static void read_double_quotes(Reader *self, Command *command)
{
	command->has_word = true;
	while (*self->at != '\0' && *self->at != '"') {
		char c = *self->at++;
		if (c == '$') {
			read_dollar(self, command);
		} else if (c == '`') {
			add_char(command, EXPANDED);
			read_commands(self, '`');
		} else if (c == '\\' && *self->at != '\0') {
			self->line += *self->at == '\n';
			if (*self->at != '\n')
				add_char(command, *self->at);
			self->at++;
		} else {
			self->line += c == '\n';
			add_char(command, c == '\n' ? ' ' : c);
		}
	}
	self->at += *self->at != '\0';
}

/* --- the text --- */

/* The lines up to the word that ends them. */
static void skip_heredoc(Reader *self)
{
	g_autofree char *end = g_steal_pointer(&self->heredoc);

	while (*self->at != '\0') {
		const char *line = self->at + strspn(self->at, "\t");
		size_t n = strcspn(line, "\n");
		bool is_end = n == strlen(end) && strncmp(line, end, n) == 0;
		self->at = line + n;
		if (is_end)
			return;
		self->line += *self->at == '\n';
		self->at += *self->at == '\n';
	}
}

/* After < or >. */
static void read_redirection(Reader *self, Command *command, char c)
{
	/* the number of a descriptor before it is no word */
	if (command->has_word && strspn(command->word->str, "0123456789") == command->word->len) {
		g_string_truncate(command->word, 0);
		command->has_word = false;
	}
	end_word(self, command);
	if (*self->at == '(') {
		self->at++;
		add_char(command, EXPANDED);
		read_commands(self, ')');
		return;
	}
	bool is_document = c == '<' && self->at[0] == '<' && self->at[1] != '<';
	while (*self->at != '\0' && strchr("<>&|", *self->at) != NULL)
		self->at++;
	self->at += is_document && *self->at == '-';
	self->at += strspn(self->at, " \t");
	if (is_document) {
		const char *word = self->at + strspn(self->at, "'\"\\");
		size_t n = strcspn(word, " \t\n;|&<>'\")");
		g_free(self->heredoc);
		self->heredoc = n > 0 ? g_strndup(word, n) : NULL;
	}
	command->skips_word = true;
}

/* name(): the name of a function of the shell. */
static void begin_function(Reader *self, Command *command)
{
	self->at += 1;
	self->function = g_string_chunk_insert_const(self->out->names, command->word->str);
	command_begin(command);
}

static void end_line(Reader *self)
{
	self->line++;
	if (self->heredoc != NULL)
		skip_heredoc(self);
	/* a function mostly ends with a bracket at the begin of a line */
	if (*self->at == '}' && self->depth == 1)
		self->function = NULL;
}

/* One character of what is outside of quotes. */
static void read_char(Reader *self, Command *command, char c)
{
	switch (c) {
	case ' ':
	case '\t':
	case '\r':
		end_word(self, command);
		break;
	case '\n':
		end_command(self, command);
		end_line(self);
		break;
	case ';':
	case '|':
	case '&':
		end_command(self, command);
		break;
	case '<':
	case '>':
		read_redirection(self, command, c);
		break;
	case '(':
		if (command->has_word && command->n_words == 0 && *self->at == ')')
			begin_function(self, command);
		else
			end_command(self, command);
		break;
	case ')':
		/* of a pattern of case, or the end of a subshell */
		command->n_words = 0;
		command_begin(command);
		break;
	case '\'':
		read_single_quotes(self, command);
		break;
	case '"':
		read_double_quotes(self, command);
		break;
	case '`':
		add_char(command, EXPANDED);
		read_commands(self, '`');
		break;
	case '$':
		read_dollar(self, command);
		break;
	case '\\':
		self->line += *self->at == '\n';
		if (*self->at != '\n' && *self->at != '\0')
			add_char(command, *self->at);
		self->at += *self->at != '\0';
		break;
	default:
		add_char(command, c);
	}
}

/* Up to `end`, which is read, or that of the text. */
static void read_commands(Reader *self, char end)
{
	Command command = {.words = g_string_new(NULL), .word = g_string_new(NULL)};
	int subshells = 0;

	self->depth++;
	while (*self->at != '\0' && self->depth < MOST_DEPTH) {
		char c = *self->at++;
		if (c == end && subshells == 0)
			break;
		subshells += (c == '(' && *self->at != ')') - (c == ')' && subshells > 0);
		if (c == '#' && !command.has_word) {
			self->at += strcspn(self->at, "\n");
			continue;
		}
		if (c == ')' && subshells == 0 && end == '\0')
			end_word(self, &command);
		if (c == ')' && command.n_words > 0)
			end_command(self, &command);
		else
			read_char(self, &command, c);
	}
	end_command(self, &command);
	self->depth--;
	g_string_free(command.words, TRUE);
	g_string_free(command.word, TRUE);
}

static void read_shell(
	LodeScriptCommands *out, const char *text, uint32_t line, const char *function)
{
	Reader self = {.out = out, .at = text, .line = line, .function = function};

	while (*self.at != '\0') {
		const char *before = self.at;
		read_commands(&self, '\0');
		if (self.at == before)
			break;
	}
	g_free(self.heredoc);
}

/* --- Makefiles --- */

/* As make gives it to a shell: its own expansions are any text, $$ is $. */
static char *expand(const char *text, size_t n)
{
	GString *out = g_string_new(NULL);

	for (size_t i = 0; i < n; i++) {
		if (text[i] != '$' || i + 1 >= n) {
			g_string_append_c(out, text[i]);
			continue;
		}
		char c = text[++i];
		if (c == '$') {
			g_string_append_c(out, '$');
			continue;
		}
		g_string_append_c(out, EXPANDED);
		char close = c == '(' ? ')' : c == '{' ? '}' : '\0';
		int depth = 1;
		for (size_t k = i + 1; close != '\0' && k < n && depth > 0; k++) {
			depth += (text[k] == c) - (text[k] == close);
			i = k;
		}
	}
	return g_string_free(out, FALSE);
}

/* With one blank for blanks, ends of lines, and those that a backslash removes. */
static char *with_single_blanks(const char *text)
{
	GString *out = g_string_new(NULL);

	for (const char *at = text; *at != '\0'; at++) {
		bool is_removed = at[0] == '\\' && at[1] == '\n';
		if (!is_removed && !g_ascii_isspace(*at))
			g_string_append_c(out, *at);
		else if (out->len > 0 && out->str[out->len - 1] != ' ')
			g_string_append_c(out, ' ');
	}
	return g_strchomp(g_string_free(out, FALSE));
}

/* What a shell is given, as a command, and the commands in it. */
static void add_of_make(
	LodeScriptCommands *self, const char *text, size_t n, uint32_t line, const char *function)
{
	g_autofree char *expanded = expand(text, n);
	LodeScriptCommand one = {.line = line, .function = function, .name = g_strdup("sh")};

	read_shell(self, expanded, line, function);
	g_autofree char *single = with_single_blanks(expanded);
	for (char *at = single; *at != '\0'; at++)
		one.literal += *at != EXPANDED;
	/* what the shell's words hold stands for itself there: only make's is expanded */
	one.words = g_strdup("");
	one.text = glob_of(single);
	if (self->commands->len < MOST_COMMANDS && one.literal > 0)
		g_array_append_val(self->commands, one);
	else
		command_clear(&one);
}

/* $(shell …) in a line. */
static void add_calls_of_shell(
	LodeScriptCommands *self, const char *text, uint32_t line, const char *function)
{
	static const char begin[] = "$(shell ";

	for (const char *at = text; (at = strstr(at, begin)) != NULL;) {
		const char *from = at += strlen(begin);
		for (int depth = 1; *at != '\0' && depth > 0; at++)
			depth += (*at == '(') - (*at == ')');
		size_t n = (size_t)(at - from);
		add_of_make(self, from, n > 0 && at[-1] == ')' ? n - 1 : n, line, function);
	}
}

/* The first word of a rule's targets, or of what is set; NULL: neither. */
static const char *subject_of(LodeScriptCommands *self, const char *text, bool *out_is_rule)
{
	size_t n = strcspn(text, ":=#");

	*out_is_rule = text[n] == ':' && text[n + 1] != '=' && text[n + 1] != ':';
	if (text[n] == '\0' || text[n] == '#' || n == 0)
		return NULL;
	g_autofree char *all = g_strndup(text, n);
	g_strstrip(all);
	size_t end = strcspn(all, " \t?+!");
	all[end] = '\0';
	return all[0] != '\0' ? g_string_chunk_insert_const(self->names, all) : NULL;
}

static void read_make(LodeScriptCommands *self, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	const char *target = NULL;

	for (uint32_t i = 0; lines[i] != NULL; i++) {
		uint32_t first = i + 1;
		g_autoptr(GString) line = g_string_new(lines[i]);
		while (g_str_has_suffix(line->str, "\\") && lines[i + 1] != NULL) {
			g_string_truncate(line, line->len - 1);
			g_string_append_c(line, ' ');
			i++;
			g_string_append(line, lines[i] + strspn(lines[i], "\t "));
		}
		bool is_recipe = line->str[0] == '\t', is_rule = false;
		const char *subject = is_recipe ? target : subject_of(self, line->str, &is_rule);
		if (is_rule)
			target = subject;
		add_calls_of_shell(self, line->str, first, subject);
		const char *recipe = is_recipe ? line->str + strspn(line->str, "\t @-+") : NULL;
		const char *inner = is_rule ? strchr(line->str, ';') : NULL;
		if (inner != NULL)
			recipe = inner + 1 + strspn(inner + 1, "\t @-+");
		if (recipe != NULL && recipe[0] != '\0' && recipe[0] != '#')
			add_of_make(self, recipe, strlen(recipe), first, subject);
	}
}

/* --- the whole --- */

LodeScriptCommands *lode_script_commands_new(const char *text, LodeScriptLanguage language)
{
	LodeScriptCommands *self = g_new0(LodeScriptCommands, 1);

	self->commands = g_array_new(FALSE, FALSE, sizeof(LodeScriptCommand));
	g_array_set_clear_func(self->commands, command_clear);
	self->names = g_string_chunk_new(1 << 8);
	if (language == LODE_SCRIPT_OF_SHELL)
		read_shell(self, text, 1, NULL);
	else
		read_make(self, text);
	return self;
}

void lode_script_commands_free(LodeScriptCommands *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->commands);
	g_string_chunk_free(self->names);
	g_free(self);
}

guint lode_script_commands_n(const LodeScriptCommands *self)
{
	return self->commands->len;
}

const LodeScriptCommand *lode_script_commands_at(const LodeScriptCommands *self, guint index)
{
	return &g_array_index(self->commands, LodeScriptCommand, index);
}

/* The words from one on, as commands have them. The caller frees it. */
static char *joined(char **words, int from)
{
	GString *out = g_string_new(NULL);
	const char *slash = strrchr(words[from], '/');

	g_string_append(out, slash != NULL ? slash + 1 : words[from]);
	g_string_append_c(out, '\n');
	for (int i = from + 1; words[i] != NULL; i++) {
		g_autofree char *word = g_strdelimit(g_strdup(words[i]), "\n", ' ');
		g_string_append(out, word);
		g_string_append_c(out, '\n');
	}
	return g_string_free(out, FALSE);
}

static bool is_by_name(const LodeScriptCommand *command, const char *name)
{
	enum { LONGEST_NAME = 15 }; /* that the kernel keeps */

	return command->name != NULL && name != NULL && command->text == NULL &&
	       strncmp(command->name, name, LONGEST_NAME) == 0;
}

/* Without words; NULL: there are several. */
static const LodeScriptCommand *find_by_name(const LodeScriptCommands *self, const char *name)
{
	const LodeScriptCommand *found = NULL;

	for (guint i = 0; i < self->commands->len; i++) {
		const LodeScriptCommand *one = lode_script_commands_at(self, i);
		if (!is_by_name(one, name))
			continue;
		if (found != NULL && found->line != one->line)
			return NULL;
		found = one;
	}
	return found;
}

const LodeScriptCommand *lode_script_commands_find(
	const LodeScriptCommands *self, const char *name, const char *command)
{
	g_auto(GStrv) words = NULL;
	const LodeScriptCommand *found = NULL;
	int n = 0;

	/* arguments may be any bytes, of which GLib's functions for patterns would abort */
	g_autofree char *valid = command != NULL ? g_utf8_make_valid(command, -1) : NULL;
	if (valid == NULL || !g_shell_parse_argv(valid, &n, &words, NULL))
		return find_by_name(self, name);
	g_autofree char *all = joined(words, 0);
	/* that of a script has its interpreter before it */
	g_autofree char *script = n > 1 ? joined(words, 1) : NULL;
	g_autofree char *given = n >= 3 && lode_is_shell(words[0]) &&
	                                         strcmp(words[n - 2], "-c") == 0
	                                 ? with_single_blanks(words[n - 1])
	                                 : NULL;
	for (guint i = 0; i < self->commands->len; i++) {
		const LodeScriptCommand *one = lode_script_commands_at(self, i);
		bool is_it = one->text != NULL
		                     ? given != NULL && g_pattern_match_simple(one->text, given)
		                     : g_pattern_match_simple(one->words, all) ||
		                               (script != NULL &&
						       g_pattern_match_simple(one->words, script));
		if (is_it && (found == NULL || one->literal > found->literal))
			found = one;
	}
	return found != NULL ? found : find_by_name(self, name);
}
