/* SPDX-License-Identifier: MIT */
/*
 * lode mcp: the questions as tools of the Model Context Protocol, over standard input and output.
 * Each message is a line, an object of JSON-RPC 2.0:
 *
 *   {"method": "tools/call", "params": {"name": "report", "arguments": {"profile": "x.lode"}}, …}
 *     ─▶ lode report x.lode ─▶ {"result": {"content": [{"type": "text", "text": …}]}, …}
 *
 * Names, types and texts of the parameters are those of the questions' rows. Nothing is recorded,
 * run or written: parameters that name files to write are left out.
 *
 * Source: Model Context Protocol, specification, revisions 2024-11-05 to 2026-07-28.
 */
#include "base/text/json_stream.h"
#include "cli/terminal_asker.h"
#include "cli/verb.h"
#include "cli/verb_table.h"
#include "questions/questions.h"

#include <json-glib/json-glib.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_BYTES = 4 * 1024 * 1024, /* of a message */
	MOST_DEPTH = 64,              /* of its arrays and objects */
};

/* Codes of errors: JSON-RPC 2.0, section 5.1; the last is the protocol's. */
enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	METHOD_NOT_FOUND = -32601,
	INVALID_PARAMS = -32602,
	UNSUPPORTED_VERSION = -32022,
};

/* The newest is given to clients that ask for one that is not here. */
static const char *const versions[] = {
	"2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05", NULL};

/* In requests of the newest revision, which has no handshake. */
static const char version_name[] = "io.modelcontextprotocol/protocolVersion";

static const char instructions[] =
	"Profiles (*.lode) are made in a shell: lode run -o x.lode -- PROGRAM. Ask 'report' first: "
	"diagnoses (D1, D2 …) say what to change, where, and what that would save. Then 'report' "
	"with "
	"diagnosis=1 and explain=true, 'annotate' with diagnosis=1, and after the change 'diff' of "
	"both profiles. 'lode guide' says which question is answered by which command.";

/* --- messages --- */

typedef struct {
	JsonNode *id; /* NULL: a notification, which nobody answers */
	FILE *out;
	LodeJsonStream json;
} Reply;

static void put_id(Reply *self)
{
	GType type = self->id != NULL ? json_node_get_value_type(self->id) : G_TYPE_INVALID;

	lode_json_key(&self->json, "id");
	if (type == G_TYPE_STRING)
		lode_json_string(&self->json, json_node_get_string(self->id));
	else if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)
		lode_json_number(&self->json, json_node_get_double(self->id));
	else
		lode_json_string(&self->json, NULL);
}

static void reply_begin(Reply *self)
{
	lode_json_stream_init(&self->json, self->out);
	lode_json_begin(&self->json, '{');
	lode_json_member_string(&self->json, "jsonrpc", "2.0");
	put_id(self);
}

static void reply_end(Reply *self)
{
	lode_json_end(&self->json, '}');
	fflush(self->out);
}

/* The result is to be written up to result_end(). */
static LodeJsonStream *result_begin(Reply *self)
{
	reply_begin(self);
	lode_json_member_begin(&self->json, "result", '{');
	lode_json_member_string(&self->json, "resultType", "complete");
	return &self->json;
}

static void result_end(Reply *self)
{
	lode_json_end(&self->json, '}');
	reply_end(self);
}

static LodeJsonStream *error_begin(Reply *self, int code, const char *message)
{
	reply_begin(self);
	lode_json_member_begin(&self->json, "error", '{');
	lode_json_member_number(&self->json, "code", code);
	lode_json_member_string(&self->json, "message", message);
	return &self->json;
}

static void reply_error(Reply *self, int code, const char *message)
{
	error_begin(self, code, message);
	result_end(self);
}

/* --- tools --- */

static bool is_tool(const LodeVerb *question)
{
	return question->arguments != NULL;
}

/* A parameter that reads: neither of the page alone, nor a file to write. */
static bool is_offered(const LodeParameter *row)
{
	return row->audience != LODE_PARAMETER_FOR_PAGE && row->writes == LODE_FILE_KIND_NONE;
}

static bool takes_several(const LodeParameter *row)
{
	return row->kind == LODE_PARAMETER_TEXTS || row->kind == LODE_PARAMETER_FILES;
}

/* The name of the files that a question is about. */
static const char *files_name(const LodeVerb *question)
{
	return question->takes_many ? "profiles" : question->takes_trace ? "trace" : "profile";
}

static void put_type(LodeJsonStream *json, const char *type, bool is_list)
{
	lode_json_member_string(json, "type", is_list ? "array" : type);
	if (!is_list)
		return;
	lode_json_member_begin(json, "items", '{');
	lode_json_member_string(json, "type", type);
	lode_json_end(json, '}');
}

static void put_parameter(LodeJsonStream *json, const LodeParameter *row)
{
	bool is_flag = row->kind == LODE_PARAMETER_FLAG,
	     is_count = row->kind == LODE_PARAMETER_COUNT;

	lode_json_member_begin(json, row->name, '{');
	put_type(json, is_flag ? "boolean" : is_count ? "integer" : "string", takes_several(row));
	if (row->kind == LODE_PARAMETER_WORD) {
		g_auto(GStrv) words = g_strsplit(row->value, "|", -1);
		lode_json_member_begin(json, "enum", '[');
		for (size_t i = 0; words[i] != NULL; i++)
			lode_json_string(json, words[i]);
		lode_json_end(json, ']');
	}
	g_autofree char *text = is_flag || row->value == NULL || row->kind == LODE_PARAMETER_WORD
	                                ? g_strdup(row->summary)
	                                : g_strdup_printf("%s: %s", row->value, row->summary);
	lode_json_member_string(json, "description", text);
	lode_json_end(json, '}');
}

static void put_files(LodeJsonStream *json, const LodeVerb *question)
{
	lode_json_member_begin(json, files_name(question), '{');
	put_type(json, "string", question->takes_many);
	lode_json_member_string(json, "description",
		question->takes_many    ? "files *.lode: the base first, then the new ones"
		: question->takes_trace ? "file of a packed address trace, *.rps"
					: "file *.lode");
	lode_json_end(json, '}');
}

static void put_tool(LodeJsonStream *json, const LodeVerb *question)
{
	const LodeParameter *row;
	g_autofree char *name = lode_verb_name(question, '-');
	g_autofree char *text = g_strdup_printf(
		"%s\n\n%s", question->summary, question->description);

	lode_json_begin(json, '{');
	lode_json_member_string(json, "name", name);
	lode_json_member_string(json, "description", text);
	lode_json_member_begin(json, "inputSchema", '{');
	lode_json_member_string(json, "type", "object");
	lode_json_member_begin(json, "properties", '{');
	put_files(json, question);
	for (size_t i = 0; (row = lode_parameter_row(question->groups, i)) != NULL; i++)
		if (is_offered(row))
			put_parameter(json, row);
	lode_json_end(json, '}');
	lode_json_member_begin(json, "required", '[');
	lode_json_string(json, files_name(question));
	lode_json_end(json, ']');
	lode_json_member_bool(json, "additionalProperties", false);
	lode_json_end(json, '}');
	lode_json_member_begin(json, "annotations", '{');
	lode_json_member_bool(json, "readOnlyHint", true);
	lode_json_end(json, '}');
	lode_json_end(json, '}');
}

/* For how long, in ms, the answer holds, and for whom: revisions from 2026-07-28 want it. */
static void put_cache(LodeJsonStream *json)
{
	lode_json_member_number(json, "ttlMs", 3600000);
	lode_json_member_string(json, "cacheScope", "public");
}

static void list_tools(Reply *self)
{
	LodeJsonStream *json = result_begin(self);

	lode_json_member_begin(json, "tools", '[');
	for (size_t i = 0; lode_questions[i] != NULL; i++)
		if (is_tool(lode_questions[i]))
			put_tool(json, lode_questions[i]);
	lode_json_end(json, ']');
	put_cache(json);
	result_end(self);
}

/* --- a call of a tool --- */

typedef struct {
	const LodeVerb *question;
	LodeParameterPairs pairs;
	GPtrArray *files; /* char * */
} Call;

static void call_clear(Call *self)
{
	lode_parameter_pairs_clear(&self->pairs);
	g_ptr_array_unref(self->files);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Call, call_clear)

/* A value as on a command line; NULL: it is none, as an object. */
static char *text_of(JsonNode *node)
{
	GType type = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;

	if (type == G_TYPE_STRING)
		return g_strdup(json_node_get_string(node));
	if (type == G_TYPE_INT64)
		return g_strdup_printf("%" G_GINT64_FORMAT, json_node_get_int(node));
	if (type == G_TYPE_BOOLEAN)
		return g_strdup(json_node_get_boolean(node) ? "1" : "0");
	if (type != G_TYPE_DOUBLE)
		return NULL;
	char text[G_ASCII_DTOSTR_BUF_SIZE];
	return g_strdup(g_ascii_dtostr(text, sizeof(text), json_node_get_double(node)));
}

static bool take_value(Call *self, const char *name, JsonNode *node, GError **error)
{
	const LodeParameter *row = lode_parameter_find(self->question->groups, name);
	bool is_files = strcmp(name, files_name(self->question)) == 0;
	g_autofree char *text = text_of(node);

	if (!is_files && (row == NULL || !is_offered(row)))
		return lode_parameter_refuse(error, "there is no parameter '%s'", name);
	if (text == NULL)
		return lode_parameter_refuse(
			error, "%s: a text, a number or a flag is expected", name);
	if (is_files)
		g_ptr_array_add(self->files, g_steal_pointer(&text));
	else if (row->kind != LODE_PARAMETER_FLAG || strcmp(text, "1") == 0)
		lode_parameter_pairs_add(&self->pairs, name, text);
	else if (strcmp(text, "0") != 0)
		return lode_parameter_refuse(error, "%s: true or false is expected", name);
	return true;
}

static bool take_arguments(Call *self, JsonObject *arguments, GError **error)
{
	g_autoptr(GList) names = json_object_get_members(arguments);

	for (GList *at = names; at != NULL; at = at->next) {
		JsonNode *node = json_object_get_member(arguments, at->data);
		JsonArray *list = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
		for (guint i = 0; list != NULL && i < json_array_get_length(list); i++)
			if (!take_value(self, at->data, json_array_get_element(list, i), error))
				return false;
		if (list == NULL && !JSON_NODE_HOLDS_NULL(node) &&
			!take_value(self, at->data, node, error))
			return false;
	}
	g_ptr_array_add(self->files, NULL);
	return self->files->len > 1 ||
	       lode_parameter_refuse(error, "'%s' is missing", files_name(self->question));
}

static bool ask(Call *self, FILE *out, GError **error)
{
	g_autoptr(GPtrArray) lists = NULL;
	g_autofree void *options = g_malloc0(self->question->size);

	if (self->question->init != NULL)
		self->question->init(options);
	return lode_parameters_fill(self->question->groups, &self->pairs,
		       LODE_PARAMETER_FOR_TERMINAL, options, &lists, error) &&
	       lode_terminal_ask_into(
		       self->question, options, (char **)self->files->pdata, out, error);
}

static void put_answer(Reply *self, const char *text, bool is_error)
{
	LodeJsonStream *json = result_begin(self);

	lode_json_member_begin(json, "content", '[');
	lode_json_begin(json, '{');
	lode_json_member_string(json, "type", "text");
	lode_json_member_string(json, "text", text);
	lode_json_end(json, '}');
	lode_json_end(json, ']');
	lode_json_member_bool(json, "isError", is_error);
	result_end(self);
}

static const char *member_text(JsonObject *object, const char *name)
{
	JsonNode *node = object != NULL ? json_object_get_member(object, name) : NULL;

	return node != NULL && json_node_get_value_type(node) == G_TYPE_STRING
	               ? json_node_get_string(node)
	               : NULL;
}

static JsonObject *member_object(JsonObject *object, const char *name)
{
	JsonNode *node = object != NULL ? json_object_get_member(object, name) : NULL;

	return node != NULL && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static void call_tool(Reply *self, JsonObject *params)
{
	const char *name = member_text(params, "name");
	const LodeVerb *question = name != NULL ? lode_question_find(name) : NULL;
	JsonObject *arguments = member_object(params, "arguments");
	g_autoptr(JsonObject) none = json_object_new();
	g_autoptr(GError) error = NULL;
	char *text = NULL;
	size_t size = 0;

	if (question == NULL || !is_tool(question)) {
		g_autofree char *message = g_strdup_printf("unknown tool: %s", name ? name : "");
		reply_error(self, INVALID_PARAMS, message);
		return;
	}
	g_auto(Call) call = {question, .files = g_ptr_array_new_with_free_func(g_free)};
	lode_parameter_pairs_init(&call.pairs);
	FILE *out = open_memstream(&text, &size);
	bool is_answered = take_arguments(&call, arguments != NULL ? arguments : none, &error) &&
	                   ask(&call, out, &error);
	fclose(out);
	g_autofree char *message =
		is_answered ? NULL : lode_parameters_undash(question->groups, error->message);
	put_answer(self, is_answered ? text : message, !is_answered);
	free(text);
}

/* --- the session --- */

static void put_server(LodeJsonStream *json, const char *member)
{
	lode_json_member_begin(json, member, '{');
	lode_json_member_string(json, "name", "lode");
	lode_json_member_string(json, "version", LODE_VERSION);
	lode_json_end(json, '}');
}

static void put_abilities(LodeJsonStream *json)
{
	lode_json_member_begin(json, "capabilities", '{');
	lode_json_member_begin(json, "tools", '{');
	lode_json_end(json, '}');
	lode_json_end(json, '}');
	lode_json_member_string(json, "instructions", instructions);
}

/* The handshake of revisions before 2026-07-28, of which the newest is second in the list. */
static void initialize(Reply *self, JsonObject *params)
{
	const char *asked = member_text(params, "protocolVersion");
	bool is_known = asked != NULL && g_strv_contains(versions + 1, asked);
	LodeJsonStream *json = result_begin(self);

	lode_json_member_string(json, "protocolVersion", is_known ? asked : versions[1]);
	put_abilities(json);
	put_server(json, "serverInfo");
	result_end(self);
}

static void put_versions(LodeJsonStream *json, const char *member)
{
	lode_json_member_begin(json, member, '[');
	for (size_t i = 0; versions[i] != NULL; i++)
		lode_json_string(json, versions[i]);
	lode_json_end(json, ']');
}

static void discover(Reply *self, JsonObject *params)
{
	(void)params;
	LodeJsonStream *json = result_begin(self);

	put_versions(json, "supportedVersions");
	put_abilities(json);
	put_cache(json);
	lode_json_member_begin(json, "_meta", '{');
	put_server(json, "io.modelcontextprotocol/serverInfo");
	lode_json_end(json, '}');
	result_end(self);
}

static void list(Reply *self, JsonObject *params)
{
	(void)params;
	list_tools(self);
}

static void ping(Reply *self, JsonObject *params)
{
	(void)params;
	result_begin(self);
	result_end(self);
}

static const struct {
	const char *name;
	void (*answer)(Reply *self, JsonObject *params);
} methods[] = {
	{"initialize", initialize},
	{"server/discover", discover},
	{"ping", ping},
	{"tools/list", list},
	{"tools/call", call_tool},
};

static bool is_version_known(Reply *self, JsonObject *params)
{
	const char *asked = member_text(member_object(params, "_meta"), version_name);

	if (asked == NULL || g_strv_contains(versions, asked))
		return true;
	LodeJsonStream *json = error_begin(
		self, UNSUPPORTED_VERSION, "unsupported protocol version");
	lode_json_member_begin(json, "data", '{');
	put_versions(json, "supported");
	lode_json_member_string(json, "requested", asked);
	lode_json_end(json, '}');
	result_end(self);
	return false;
}

static void answer_request(Reply *self, JsonObject *request)
{
	const char *method = member_text(request, "method");
	JsonObject *params = member_object(request, "params");

	if (method == NULL || g_strcmp0(member_text(request, "jsonrpc"), "2.0") != 0) {
		reply_error(self, INVALID_REQUEST, "a request of JSON-RPC 2.0 is expected");
		return;
	}
	/* Notifications want no answer, and all that they may name has ended by now. */
	if (self->id == NULL || !is_version_known(self, params))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(methods); i++)
		if (strcmp(methods[i].name, method) == 0) {
			methods[i].answer(self, params);
			return;
		}
	g_autofree char *message = g_strdup_printf("there is no method '%s'", method);
	reply_error(self, METHOD_NOT_FOUND, message);
}

/* json-glib reads arrays and objects within each other by recursion, which needs a limit. */
static bool is_flat(const char *text)
{
	int depth = 0, deepest = 0;
	bool is_string = false;

	for (; *text != '\0'; text++) {
		if (is_string && *text == '\\' && text[1] != '\0')
			text++;
		else if (*text == '"')
			is_string = !is_string;
		else if (!is_string)
			depth += (*text == '[' || *text == '{') - (*text == ']' || *text == '}');
		deepest = MAX(deepest, depth);
	}
	return deepest <= MOST_DEPTH;
}

/* Answers a line; `text` NULL: it was too long. */
static void answer_line(const char *text, FILE *out)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	Reply reply = {.out = out};
	JsonNode *root = text != NULL && g_utf8_validate(text, -1, NULL) && is_flat(text) &&
	                                 json_parser_load_from_data(parser, text, -1, NULL)
	                         ? json_parser_get_root(parser)
	                         : NULL;

	if (root == NULL) {
		reply_error(
			&reply, PARSE_ERROR, "a line is not JSON, or beyond 4 MiB or 64 levels");
	} else if (!JSON_NODE_HOLDS_OBJECT(root)) {
		reply_error(&reply, INVALID_REQUEST, "an object of JSON-RPC 2.0 is expected");
	} else {
		reply.id = json_object_get_member(json_node_get_object(root), "id");
		answer_request(&reply, json_node_get_object(root));
	}
}

/* Reads the next line; false at the end of the input. A line beyond the limit is read and dropped.
 */
static bool read_line(FILE *in, GString *line, bool *out_is_whole)
{
	int byte;

	g_string_truncate(line, 0);
	*out_is_whole = true;
	while ((byte = getc_unlocked(in)) != EOF && byte != '\n') {
		*out_is_whole &= line->len < MOST_BYTES && byte != '\0';
		if (*out_is_whole)
			g_string_append_c(line, (char)byte);
	}
	return byte != EOF || line->len > 0;
}

static int run(void *options, char **arguments, GError **error)
{
	g_autoptr(GString) line = g_string_new(NULL);
	bool is_whole;

	(void)options;
	if (arguments[0] != NULL) {
		lode_parameter_refuse(error, "mcp takes no arguments; profiles are named in calls");
		return LODE_EXIT_USAGE;
	}
	while (!ferror(stdout) && read_line(stdin, line, &is_whole))
		if (!is_whole || strspn(line->str, " \t\r") < line->len)
			answer_line(is_whole ? line->str : NULL, stdout);
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_mcp = {
	.name = "mcp",
	.arguments = "",
	.summary = "answer an agent's questions, by the Model Context Protocol",
	.description =
		"Offers the questions about profiles and traces - report, annotate, diff, memory, "
		"place, trace info, trace simulate, info - as tools of the Model Context Protocol, "
		"over standard input and output, until the input ends. Their parameters are those "
		"of the verbs of the same names. It reads the files that a call names, and writes, "
		"records and runs nothing: profiles are made by 'lode run'.\n"
		"\n"
		"Revisions 2024-11-05, 2025-06-18, 2025-11-25 and 2026-07-28 of the protocol are "
		"understood.\n"
		"\n"
		"Examples, of a client's settings:\n"
		"  {\"mcpServers\": {\"lode\": {\"command\": \"lode\", \"args\": [\"mcp\"]}}}",
	.groups = NULL,
	.size = 1,
	.run = run,
};
