/* SPDX-License-Identifier: MIT */
#include "serve/server.h"

#include "analyses/memory/cells/address_histogram.h"
#include "base/error.h"
#include "base/text/json_stream.h"
#include "machine/late_library.h"
#include "questions/parts/memory_samples.h"
#include "serve/connection_watch.h"
#include "serve/page_asset.h"
#include "serve/query.h"
#include "serve/request_gate.h"
#include "serve/served_profile.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_CONNECTIONS = 256,
	MAX_ENDING = 256,            /* more connections, which are being closed */
	CONNECTION_BYTES = 32 << 10, /* memory for a request's header */
	MAX_BODY_BYTES = 4096,
	MAX_PARAMETERS = 128,
	TIMEOUT_S = 60, /* without a byte in either direction */
	REQUESTS_A_SECOND = 400,
	REQUESTS_AT_ONCE = 1000,
	LINES_A_SECOND = 20,                  /* of the log */
	MAX_QUERIES = 4,                      /* at the same time */
	MAX_STREAMS = 16,                     /* of live pictures, at the same time */
	STREAM_WAIT_US = 10 * G_USEC_PER_SEC, /* after which a stream sends a keep-alive comment */
	LOG_PATH_BYTES = 200,
};

/* Functions of libmicrohttpd, which loads GnuTLS and 8 more libraries; filled before a server
 * starts. */
static struct {
	__typeof__(&MHD_add_response_header) add_response_header;
	__typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
	__typeof__(&MHD_create_response_from_callback) create_response_from_callback;
	__typeof__(&MHD_destroy_response) destroy_response;
	__typeof__(&MHD_get_connection_info) get_connection_info;
	__typeof__(&MHD_get_connection_values) get_connection_values;
	__typeof__(&MHD_get_connection_values_n) get_connection_values_n;
	__typeof__(&MHD_lookup_connection_value) lookup_connection_value;
	__typeof__(&MHD_queue_response) queue_response;
	__typeof__(&MHD_start_daemon) start_daemon;
	__typeof__(&MHD_stop_daemon) stop_daemon;
} mhd;

static bool open_mhd(GError **error)
{
	static GMutex lock;
	static bool is_open;
	const LodeLateSymbol symbols[] = {
		{"MHD_add_response_header", &mhd.add_response_header},
		{"MHD_create_response_from_buffer", &mhd.create_response_from_buffer},
		{"MHD_create_response_from_callback", &mhd.create_response_from_callback},
		{"MHD_destroy_response", &mhd.destroy_response},
		{"MHD_get_connection_info", &mhd.get_connection_info},
		{"MHD_get_connection_values", &mhd.get_connection_values},
		{"MHD_get_connection_values_n", &mhd.get_connection_values_n},
		{"MHD_lookup_connection_value", &mhd.lookup_connection_value},
		{"MHD_queue_response", &mhd.queue_response},
		{"MHD_start_daemon", &mhd.start_daemon},
		{"MHD_stop_daemon", &mhd.stop_daemon},
	};
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

	if (!is_open)
		is_open = lode_late_library_open(
			"libmicrohttpd.so.12", RTLD_LAZY, symbols, G_N_ELEMENTS(symbols), error);
	return is_open;
}

/* A token bucket: a rate per second, and a burst after a pause. */
typedef struct {
	double rate, most, left;
	gint64 filled_us;
} Allowance;

struct LodeServer {
	const LodeServedFiles *files;
	LodeServerOptions options;
	char *host; /* "127.0.0.1:8123" */
	LodeRequestGate *gate;
	LodeConnectionWatch *watch;
	struct MHD_Daemon *daemon;
	GMutex lock; /* of all fields below */
	GCond has_room;
	unsigned n_queries, n_streams;
	Allowance requests, lines;
	uint64_t n_unlogged;
};

typedef struct {
	LodeServer *server;
	struct MHD_Connection *connection;
	const char *path, *method;
	GCancellable *cancellable;
	const char *query; /* the query's name, in the path; NULL: none */
	bool is_reload;
	bool is_live;   /* the stream of pictures */
	bool is_sample; /* to start or stop sampling */
} Request;

static bool allowance_take(Allowance *self)
{
	gint64 now_us = g_get_monotonic_time();

	self->left = MIN(self->most,
		self->left + (double)(now_us - self->filled_us) / G_USEC_PER_SEC * self->rate);
	self->filled_us = now_us;
	if (self->left < 1)
		return false;
	self->left -= 1;
	return true;
}

static void log_line(LodeServer *self, const char *line)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	if (self->options.log == NULL)
		return;
	if (!allowance_take(&self->lines)) {
		self->n_unlogged++;
		return;
	}
	if (self->n_unlogged > 0) {
		g_autofree char *rest = g_strdup_printf(
			"%" G_GUINT64_FORMAT " more refused requests", self->n_unlogged);
		self->options.log(rest, self->options.user_data);
	}
	self->n_unlogged = 0;
	self->options.log(line, self->options.user_data);
}

/* Messages of libmicrohttpd, for example on a request that it could not parse. */
static void log_library(void *data, const char *format, va_list arguments) G_GNUC_PRINTF(2, 0);
static void log_library(void *data, const char *format, va_list arguments)
{
	g_autofree char *line = g_strdup_vprintf(format, arguments);

	/* Left out: connections that browsers open and do not use, and failed requests, which are
	 * logged with their reason elsewhere. */
	if (strstr(line, "closed by remote side") == NULL &&
		strstr(line, "Application reported internal error") == NULL)
		log_line(data, g_strchomp(line));
}

/* --- answers --- */

static enum MHD_Result queue(Request *request, unsigned status, struct MHD_Response *response)
{
	static const char *const fields[][2] = {
		/* Only the page's own scripts and styles, and nothing from other servers. */
		{"Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
			"data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; "
			"form-action 'none'; frame-ancestors 'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
	};

	if (response == NULL)
		return MHD_NO;
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		mhd.add_response_header(response, fields[i][0], fields[i][1]);
	enum MHD_Result result = mhd.queue_response(request->connection, status, response);
	mhd.destroy_response(response);
	return result;
}

static const char *header_of(Request *request, const char *name)
{
	return mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* {"error":{"code":"refused","message":"…"}} */
static enum MHD_Result queue_error(
	Request *request, unsigned status, const char *code, const char *message)
{
	GString *text = g_string_new(NULL);
	LodeJsonStream json;

	lode_json_stream_init_text(&json, text);
	lode_json_begin(&json, '{');
	lode_json_key(&json, "error");
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "code", code);
	lode_json_member_string(&json, "message", message);
	lode_json_end(&json, '}');
	lode_json_end(&json, '}');
	struct MHD_Response *response = mhd.create_response_from_buffer(
		text->len, text->str, MHD_RESPMEM_MUST_COPY);
	g_string_free(text, TRUE);
	if (response != NULL)
		mhd.add_response_header(
			response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json; charset=utf-8");
	if (response != NULL && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
	return queue(request, status, response);
}

/* Whether a browser shows the answer to a person: the page's own requests are for JSON. */
static bool is_for_person(Request *request)
{
	const char *accepted = header_of(request, MHD_HTTP_HEADER_ACCEPT);

	return accepted != NULL && strstr(accepted, "text/html") != NULL &&
	       !g_str_has_prefix(request->path, "/api/");
}

/* For an old link, or one that was copied without its token. */
static enum MHD_Result queue_refusal(Request *request, const char *reason)
{
	static const char page[] =
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<title>lode: this link does not open the page</title>\n"
		"<link rel=\"stylesheet\" href=\"/app.css\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n</head>\n<body>\n<main>\n"
		"<h1>This link does not open the page</h1>\n"
		"<p>lode shows profiles only to those who have the address that it printed when it "
		"was "
		"started. That address ends in a token, which is different each time; one "
		"that <code>--open</code> gave to a browser is valid once.</p>\n"
		"<ul>\n"
		"<li>In the terminal where lode runs, copy the whole address, with what follows "
		"<code>?token=</code>, and open it here.</li>\n"
		"<li>If it has ended there, start <code>lode serve</code> again and open the new "
		"address.</li>\n"
		"<li>Cookies must be allowed for this address.</li>\n</ul>\n"
		"<p class=\"faint\">Refused: %s.</p>\n</main>\n</body>\n</html>\n";
	g_autofree char *text = g_markup_printf_escaped(page, reason);
	struct MHD_Response *response = mhd.create_response_from_buffer(
		strlen(text), text, MHD_RESPMEM_MUST_COPY);

	if (response != NULL)
		mhd.add_response_header(
			response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/html; charset=utf-8");
	return queue(request, MHD_HTTP_FORBIDDEN, response);
}

static enum MHD_Result refuse(Request *request, unsigned status, const char *reason)
{
	g_autofree char *line = g_strdup_printf(
		"refused %.20s %.*s: %s", request->method, LOG_PATH_BYTES, request->path, reason);
	g_autofree char *message = g_strdup_printf("lode serve refused the request: %s%s", reason,
		status == MHD_HTTP_FORBIDDEN
			? "; open the address that lode serve printed when it was started"
			: "");

	log_line(request->server, line);
	if (status == MHD_HTTP_FORBIDDEN && is_for_person(request))
		return queue_refusal(request, reason);
	return queue_error(request, status, "refused", message);
}

static enum MHD_Result queue_asset(Request *request, GBytes *bytes, const char *type)
{
	gsize size;
	const void *data = g_bytes_get_data(bytes, &size);
	const LodeRequestGate *gate = request->server->gate;
	struct MHD_Response *response = mhd.create_response_from_buffer(
		size, (void *)data, MHD_RESPMEM_MUST_COPY);

	if (response == NULL)
		return MHD_NO;
	mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (strcmp(request->path, "/") == 0) {
		g_autofree char *cookie = g_strdup_printf(
			"%s=%s; Path=/; HttpOnly; SameSite=Strict",
			lode_request_gate_cookie_name(gate), lode_request_gate_cookie(gate));
		mhd.add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
	}
	return queue(request, MHD_HTTP_OK, response);
}

/* --- queries --- */

typedef struct {
	LodeParameterPairs parameters;
	bool is_too_much;
} ReadParameters;

static enum MHD_Result add_parameter(void *data, enum MHD_ValueKind kind, const char *name,
	size_t name_size, const char *value, size_t value_size)
{
	ReadParameters *read = data;

	(void)kind;
	/* A null byte would truncate a value. */
	if (read->parameters.names->len >= MAX_PARAMETERS || strlen(name) != name_size ||
		(value != NULL && strlen(value) != value_size)) {
		read->is_too_much = true;
		return MHD_NO;
	}
	lode_parameter_pairs_add(&read->parameters, name, value);
	return MHD_YES;
}

static bool begin_query(LodeServer *self, GCancellable *cancellable)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	while (self->n_queries >= MAX_QUERIES && !g_cancellable_is_cancelled(cancellable))
		g_cond_wait_until(&self->has_room, &self->lock,
			g_get_monotonic_time() + 100 * G_TIME_SPAN_MILLISECOND);
	if (g_cancellable_is_cancelled(cancellable))
		return false;
	self->n_queries++;
	return true;
}

static void end_query(LodeServer *self)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	self->n_queries--;
	g_cond_signal(&self->has_room);
}

/* The query is valid, but not for this profile; microhttpd's name of the status depends on its
 * version.
 */
enum { UNPROCESSABLE = 422 };

static enum MHD_Result queue_failure(Request *request, LodeServedState state, const GError *error)
{
	static const struct {
		unsigned status;
		const char *code;
	} answers[] = {
		[LODE_ERROR_IO] = {MHD_HTTP_INTERNAL_SERVER_ERROR, "io"},
		[LODE_ERROR_CORRUPT] = {MHD_HTTP_INTERNAL_SERVER_ERROR, "corrupt"},
		[LODE_ERROR_UNSUPPORTED] = {UNPROCESSABLE, "unsupported"},
		[LODE_ERROR_NOT_FOUND] = {MHD_HTTP_NOT_FOUND, "not-found"},
		[LODE_ERROR_USAGE] = {MHD_HTTP_BAD_REQUEST, "usage"},
		[LODE_ERROR_LIMIT] = {MHD_HTTP_SERVICE_UNAVAILABLE, "limit"},
		[LODE_ERROR_CANCELLED] = {MHD_HTTP_SERVICE_UNAVAILABLE, "cancelled"},
	};
	unsigned status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	const char *code = "failed";

	if (error->domain == LODE_ERROR && error->code >= 0 &&
		error->code < (int)G_N_ELEMENTS(answers)) {
		status = answers[error->code].status;
		code = answers[error->code].code;
	}
	if (state != LODE_SERVED_CURRENT) {
		bool is_removed = state == LODE_SERVED_REMOVED;
		status = is_removed ? MHD_HTTP_GONE : MHD_HTTP_CONFLICT;
		code = is_removed ? "removed" : "replaced";
	}
	g_autofree char *line = g_strdup_printf("failed %.20s %.*s: %s", request->method,
		LOG_PATH_BYTES, request->path, error->message);
	log_line(request->server, line);
	return queue_error(request, status, code, error->message);
}

typedef struct {
	bool is_on;
} Switch;

/* Parameter: whether sampling is on. */
static bool read_switch(const LodeParameterPairs *parameters, Switch *out, GError **error)
{
	static const LodeParameter rows[] = {
		{"on", LODE_FLAG(Switch, is_on), .summary = "sample from now on"}, {NULL}};
	static const LodeParameterGroup groups[] = {{"Sampling", rows, 0}, {NULL}};
	g_autoptr(GPtrArray) lists = NULL;

	return lode_parameters_fill(
		groups, parameters, LODE_PARAMETER_FOR_PAGE, out, &lists, error);
}

static bool run_query(Request *request, const LodeParameterPairs *parameters, FILE *out,
	LodeServedState *out_state, GError **error)
{
	const LodeServedFiles *files = request->server->files;
	LodeProgress progress = {.cancellable = request->cancellable};

	*out_state = LODE_SERVED_CURRENT;
	if (request->is_sample) {
		Switch sample = {0};
		if (!read_switch(parameters, &sample, error))
			return false;
		lode_live_feed_sample(files->live, sample.is_on);
		fputs("{}\n", out);
		return true;
	}
	if (!request->is_reload)
		return lode_page_query_run(
			request->query, parameters, files, &progress, out, out_state, error);
	LodeServedProfile *served = lode_page_query_profile(parameters, files->profiles, error);
	if (served == NULL || !lode_served_profile_reload(served, &progress, error))
		return false;
	fputs("{}\n", out);
	return true;
}

/* The client has closed the connection, so that nothing is answered. */
static enum MHD_Result stop(Request *request)
{
	g_autofree char *line = g_strdup_printf("stopped %.20s %.*s: the client has disconnected",
		request->method, LOG_PATH_BYTES, request->path);

	log_line(request->server, line);
	return MHD_NO;
}

static enum MHD_Result queue_query(Request *request, const LodeParameterPairs *parameters)
{
	g_autoptr(GError) error = NULL;
	LodeServedState state;
	char *text = NULL;
	size_t size = 0;
	bool is_csv = g_strcmp0(lode_parameter_pairs_text(parameters, "format"), "csv") == 0;

	if (!begin_query(request->server, request->cancellable))
		return stop(request);
	FILE *out = open_memstream(&text, &size);
	bool is_answered = out != NULL && run_query(request, parameters, out, &state, &error);
	if (out != NULL)
		fclose(out);
	end_query(request->server);
	if (out == NULL)
		return queue_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "limit", "out of memory");
	if (!is_answered) {
		free(text);
		return g_cancellable_is_cancelled(request->cancellable)
		               ? stop(request)
		               : queue_failure(request, state, error);
	}
	struct MHD_Response *response = mhd.create_response_from_buffer(
		size, text, MHD_RESPMEM_MUST_FREE);
	if (response == NULL) {
		free(text);
		return MHD_NO;
	}
	mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
		is_csv ? "text/csv; charset=utf-8" : "application/json; charset=utf-8");
	if (is_csv)
		mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
			"attachment; filename=\"lode.csv\"");
	return queue(request, MHD_HTTP_OK, response);
}

/* --- a stream of live pictures --- */

static LodeWatchedConnection *watched(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = mhd.get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

typedef struct {
	LodeServer *server;
	GCancellable *cancellable;
	LodeLiveLook look;
	uint64_t number; /* of the last picture */
	GString *text;   /* of the event being sent */
	size_t sent;
	bool is_over;
} Stream;

static void free_stream(void *data)
{
	Stream *stream = data;

	g_mutex_lock(&stream->server->lock);
	stream->server->n_streams--;
	g_mutex_unlock(&stream->server->lock);
	g_object_unref(stream->cancellable);
	g_string_free(stream->text, TRUE);
	g_free(stream);
}

/* The next event: a picture, or a comment that there is none. */
static void make_event(Stream *stream)
{
	g_autoptr(GString) picture = g_string_new(NULL);
	LodeLiveFeed *live = stream->server->files->live;

	stream->sent = 0;
	bool has_picture = lode_live_feed_next(live, &stream->look, &stream->number, STREAM_WAIT_US,
		stream->cancellable, picture, &stream->is_over);
	if (!has_picture) {
		g_string_assign(stream->text, ": nothing new\n\n");
		return;
	}
	/* A line break would end the data line of the event. */
	for (char *at = picture->str; *at != '\0'; at++)
		*at = *at == '\n' ? ' ' : *at;
	g_string_printf(stream->text, "event: picture\ndata: %s\n\n", picture->str);
}

/* Called by the connection's own thread; it may block. */
static ssize_t read_stream(void *data, uint64_t position, char *buffer, size_t size)
{
	Stream *stream = data;

	(void)position;
	if (stream->sent == stream->text->len) {
		if (stream->is_over || g_cancellable_is_cancelled(stream->cancellable))
			return MHD_CONTENT_READER_END_OF_STREAM;
		make_event(stream);
	}
	size_t n = MIN(size, stream->text->len - stream->sent);
	memcpy(buffer, stream->text->str + stream->sent, n);
	stream->sent += n;
	return (ssize_t)n;
}

typedef struct {
	LodeLiveLook look;
	const char *granularity;
	uint32_t thread;
	bool has_thread;
} Look;

static const LodeParameter look_rows[] = {
	LODE_GRANULARITY_ROW(Look, granularity),
	{"measure", LODE_WORD(Look, look.measure), .value = "weight|loads|stores",
		.summary = "what is shown"},
	{"thread", LODE_COUNT(Look, thread), .most = G_MAXINT32 - 1, .value = "N",
		.given = offsetof(Look, has_thread), .summary = "only this thread"},
	{NULL},
};

static const LodeParameterGroup look_groups[] = {{"Look", look_rows, 0}, {NULL}};

static bool read_live_view(
	const LodeParameterPairs *parameters, LodeLiveLook *out_look, GError **error)
{
	Look self = {.look.granularity = LODE_PAGE_BYTES};
	g_autoptr(GPtrArray) lists = NULL;

	if (!lode_parameters_fill(
		    look_groups, parameters, LODE_PARAMETER_FOR_PAGE, &self, &lists, error) ||
		!lode_memory_granularity_read(self.granularity, &self.look.granularity, error))
		return false;
	self.look.thread = self.has_thread ? (int)self.thread : -1;
	*out_look = self.look;
	return true;
}

static bool begin_stream(LodeServer *self)
{
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&self->lock);

	if (self->n_streams >= MAX_STREAMS)
		return false;
	self->n_streams++;
	return true;
}

static enum MHD_Result queue_stream(Request *request, const LodeParameterPairs *parameters)
{
	g_autoptr(GError) error = NULL;
	LodeServer *server = request->server;
	LodeLiveLook look;

	if (!read_live_view(parameters, &look, &error))
		return queue_failure(request, LODE_SERVED_CURRENT, error);
	if (strcmp(request->method, MHD_HTTP_METHOD_GET) != 0)
		return refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED, "a stream is for GET");
	if (!begin_stream(server))
		return refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "too many live pictures");
	Stream *stream = g_new0(Stream, 1);
	*stream = (Stream){.server = server,
		.cancellable = g_object_ref(request->cancellable),
		.look = look,
		.text = g_string_new(NULL)};
	lode_connection_watch_lift(server->watch, watched(request->connection));
	struct MHD_Response *response = mhd.create_response_from_callback(
		MHD_SIZE_UNKNOWN, 64 << 10, read_stream, stream, free_stream);
	if (response == NULL) {
		free_stream(stream);
		return MHD_NO;
	}
	mhd.add_response_header(
		response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream; charset=utf-8");
	return queue(request, MHD_HTTP_OK, response);
}

/* --- requests --- */

static enum MHD_Result count_host(
	void *data, enum MHD_ValueKind kind, const char *name, const char *value)
{
	unsigned *n = data;

	(void)kind;
	(void)value;
	*n += g_ascii_strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
	return MHD_YES;
}

/* The protection that the target of the request needs; LODE_GATE_OPEN also for an unknown target.
 */
static LodeGateKind find_target(Request *request)
{
	static const char prefix[] = "/api/";

	if (strcmp(request->path, "/") == 0)
		return LODE_GATE_ENTRY;
	if (strncmp(request->path, prefix, sizeof(prefix) - 1) != 0)
		return LODE_GATE_OPEN;
	bool is_recording = request->server->files->live != NULL;
	request->is_reload = strcmp(request->path, "/api/reload") == 0;
	request->is_live = is_recording && strcmp(request->path, "/api/live") == 0;
	request->is_sample = is_recording && strcmp(request->path, "/api/sample") == 0;
	const char *name = request->path + sizeof(prefix) - 1;
	request->query = lode_page_query_exists(name) ? name : NULL;
	return LODE_GATE_GUARDED;
}

/* 0: the request is accepted; else the HTTP status, with the reason. */
static unsigned find_refusal(Request *request, const char **out_reason)
{
	LodeServer *server = request->server;
	bool is_post = strcmp(request->method, MHD_HTTP_METHOD_POST) == 0;
	const char *length = header_of(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
	guint64 body_bytes = 0;
	LodeGateRequest asked = {
		.is_post = is_post,
		.host = header_of(request, MHD_HTTP_HEADER_HOST),
		.origin = header_of(request, MHD_HTTP_HEADER_ORIGIN),
		.fetch_site = header_of(request, "Sec-Fetch-Site"),
		.cookie = mhd.lookup_connection_value(request->connection, MHD_COOKIE_KIND,
			lode_request_gate_cookie_name(server->gate)),
		.token = mhd.lookup_connection_value(
			request->connection, MHD_GET_ARGUMENT_KIND, "token"),
	};

	mhd.get_connection_values(request->connection, MHD_HEADER_KIND, count_host, &asked.n_hosts);
	if (!is_post && strcmp(request->method, MHD_HTTP_METHOD_GET) != 0 &&
		strcmp(request->method, MHD_HTTP_METHOD_HEAD) != 0) {
		*out_reason = "the method is not GET, HEAD or POST";
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	}
	if (header_of(request, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL ||
		(length != NULL && !g_ascii_string_to_unsigned(
					   length, 10, 0, MAX_BODY_BYTES, &body_bytes, NULL))) {
		*out_reason = "its body is too large or of unknown size";
		return MHD_HTTP_CONTENT_TOO_LARGE;
	}
	*out_reason = lode_request_gate_refusal(server->gate, find_target(request), &asked);
	if (*out_reason != NULL)
		return MHD_HTTP_FORBIDDEN;
	if (is_post != (request->is_reload || request->is_sample)) {
		*out_reason = is_post ? "nothing here takes a POST" : "this takes a POST";
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	}
	g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&server->lock);
	if (allowance_take(&server->requests))
		return 0;
	*out_reason = "too many requests in a second";
	return MHD_HTTP_TOO_MANY_REQUESTS;
}

static enum MHD_Result answer_request(Request *request)
{
	ReadParameters read = {.is_too_much = false};
	const char *type;

	g_autoptr(GBytes) asset = lode_page_asset(request->path, &type);
	if (asset != NULL)
		return queue_asset(request, asset, type);
	if (request->query == NULL && !request->is_reload && !request->is_live &&
		!request->is_sample)
		return refuse(request, MHD_HTTP_NOT_FOUND, "nothing is served at this address");
	lode_parameter_pairs_init(&read.parameters);
	mhd.get_connection_values_n(
		request->connection, MHD_GET_ARGUMENT_KIND, add_parameter, &read);
	enum MHD_Result result = read.is_too_much
	                                 ? refuse(request, MHD_HTTP_BAD_REQUEST,
						   "too many parameters, or a byte of zero")
	                         : request->is_live ? queue_stream(request, &read.parameters)
	                                            : queue_query(request, &read.parameters);
	lode_parameter_pairs_clear(&read.parameters);
	return result;
}

/* libmicrohttpd calls it after the header, for each part of a body, and at the end. */
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_size,
	void **context)
{
	LodeServer *server = data;
	Request *request = *context;
	const char *reason;

	(void)version;
	(void)upload;
	if (request == NULL) {
		request = g_new0(Request, 1);
		*request = (Request){server, connection, url, method, g_cancellable_new(), NULL,
			false, false, false};
		*context = request;
		lode_connection_watch_begin(
			server->watch, watched(connection), request->cancellable);
		unsigned status = find_refusal(request, &reason);
		return status != 0 ? refuse(request, status, reason) : MHD_YES;
	}
	if (*upload_size > 0) {
		*upload_size = 0;
		return MHD_YES;
	}
	return answer_request(request);
}

static void on_completed(void *data, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode how)
{
	LodeServer *server = data;
	Request *request = *context;

	(void)how;
	if (request == NULL)
		return;
	lode_connection_watch_end(server->watch, watched(connection));
	g_object_unref(request->cancellable);
	g_free(request);
	*context = NULL;
}

static void on_connection(void *data, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode code)
{
	LodeServer *server = data;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		int socket = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
		                     ->connect_fd;
		*context = lode_connection_watch_add(server->watch, socket);
	} else {
		lode_connection_watch_remove(server->watch, *context);
	}
}

/* --- the server --- */

/* A listening socket; the caller unrefs it. */
static GSocket *listen_at(const LodeServerOptions *options, bool *out_is_remote, GError **error)
{
	const char *text = options->address != NULL ? options->address : "127.0.0.1";
	g_autoptr(GInetAddress) address = g_inet_address_new_from_string(text);
	g_autoptr(GError) fault = NULL;

	if (address == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s' is not a numeric address such as 127.0.0.1 or ::1", text);
		return NULL;
	}
	*out_is_remote = !g_inet_address_get_is_loopback(address);
	g_autoptr(GSocketAddress) place = g_inet_socket_address_new(address, options->port);
	g_autoptr(GSocket) socket = g_socket_new(g_inet_address_get_family(address),
		G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, &fault);
	if (socket != NULL)
		g_socket_set_listen_backlog(socket, 512);
	if (socket == NULL || !g_socket_bind(socket, place, TRUE, &fault) ||
		!g_socket_listen(socket, &fault)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot listen at %s, port %u: %s",
			text, options->port, fault->message);
		return NULL;
	}
	return g_steal_pointer(&socket);
}

/* Gives "127.0.0.1:8123" and the port. */
static char *find_host(GSocket *socket, uint16_t *out_port)
{
	g_autoptr(GSocketAddress) place = g_socket_get_local_address(socket, NULL);
	GInetSocketAddress *inet = G_INET_SOCKET_ADDRESS(place);
	GInetAddress *address = g_inet_socket_address_get_address(inet);
	g_autofree char *text = g_inet_address_to_string(address);
	bool is_ipv6 = g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6;

	*out_port = g_inet_socket_address_get_port(inet);
	return g_strdup_printf(is_ipv6 ? "[%s]:%u" : "%s:%u", text, *out_port);
}

static bool start_daemon(LodeServer *self, GSocket *socket, GError **error)
{
	/* The daemon closes it; a recorded program must not inherit it, as it could answer in our
	 * place and read the token. */
	int descriptor = fcntl(g_socket_get_fd(socket), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (descriptor >= 0)
		self->daemon = mhd.start_daemon(
			MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
				MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG,
			0, NULL, NULL, on_request, self, MHD_OPTION_EXTERNAL_LOGGER, log_library,
			self, MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT,
			(unsigned)(MAX_CONNECTIONS + MAX_ENDING), MHD_OPTION_CONNECTION_TIMEOUT,
			(unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			(size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
			MHD_OPTION_NOTIFY_COMPLETED, on_completed, self,
			MHD_OPTION_NOTIFY_CONNECTION, on_connection, self, MHD_OPTION_END);
	if (self->daemon != NULL)
		return true;
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_IO, "cannot start the server: %s", g_strerror(errno));
	if (descriptor >= 0)
		close(descriptor);
	return false;
}

LodeServer *lode_server_start(
	const LodeServedFiles *files, const LodeServerOptions *options, GError **error)
{
	LodeConnectionLimits limits = {
		.max_connections = MAX_CONNECTIONS, .request_us = options->request_us};
	bool is_remote;
	uint16_t port;

	if (!open_mhd(error)) {
		g_prefix_error(error, "there can be no server: ");
		return NULL;
	}
	g_autoptr(GSocket) socket = listen_at(options, &is_remote, error);
	if (socket == NULL)
		return NULL;
	g_autofree char *host = find_host(socket, &port);
	g_autoptr(LodeRequestGate) gate = lode_request_gate_new(port, is_remote, error);
	if (gate == NULL)
		return NULL;
	g_autoptr(LodeServer) self = g_new0(LodeServer, 1);
	self->files = files;
	self->options = *options;
	self->host = g_steal_pointer(&host);
	self->gate = g_steal_pointer(&gate);
	g_mutex_init(&self->lock);
	g_cond_init(&self->has_room);
	self->requests = (Allowance){
		REQUESTS_A_SECOND, REQUESTS_AT_ONCE, REQUESTS_AT_ONCE, g_get_monotonic_time()};
	self->lines = (Allowance){
		LINES_A_SECOND, LINES_A_SECOND, LINES_A_SECOND, g_get_monotonic_time()};
	self->watch = lode_connection_watch_new(&limits);
	if (!start_daemon(self, socket, error))
		return NULL;
	return g_steal_pointer(&self);
}

void lode_server_stop(LodeServer *self)
{
	if (self == NULL)
		return;
	if (self->daemon != NULL) {
		lode_connection_watch_stop(self->watch);
		mhd.stop_daemon(self->daemon);
	}
	lode_connection_watch_free(self->watch);
	lode_request_gate_free(self->gate);
	g_cond_clear(&self->has_room);
	g_mutex_clear(&self->lock);
	g_free(self->host);
	g_free(self);
}

char *lode_server_link(const LodeServer *self, bool is_once)
{
	return g_strdup_printf("http://%s/?token=%s", self->host,
		is_once ? lode_request_gate_token_once(self->gate)
			: lode_request_gate_token(self->gate));
}
