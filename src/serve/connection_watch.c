/* SPDX-License-Identifier: MIT */
#include "serve/connection_watch.h"

#include <poll.h>
#include <sys/socket.h>

enum { TICK_MS = 100 };

struct LodeWatchedConnection {
	int socket;
	gint64 since_us;     /* start of the wait for a request, or for its answer */
	GCancellable *query; /* NULL: it waits for a request */
	bool is_shut;        /* its shutdown has begun */
	bool is_stream;      /* its answer is an endless stream */
};

struct LodeConnectionWatch {
	LodeConnectionLimits limits;
	GThread *thread;
	GMutex lock; /* of all fields below */
	GCond changed;
	GPtrArray *connections; /* LodeWatchedConnection */
	bool is_ending;
};

static void free_connection(void *data)
{
	LodeWatchedConnection *connection = data;

	g_clear_object(&connection->query);
	g_free(connection);
}

static LodeWatchedConnection *connection_at(const LodeConnectionWatch *self, guint i)
{
	return g_ptr_array_index(self->connections, i);
}

/* Wakes up its thread in libmicrohttpd, which closes it. */
static void shut_down(LodeWatchedConnection *connection)
{
	connection->is_shut = true;
	shutdown(connection->socket, SHUT_RDWR);
}

static void check_times(LodeConnectionWatch *self, gint64 now_us)
{
	for (guint i = 0; i < self->connections->len; i++) {
		LodeWatchedConnection *one = connection_at(self, i);
		gint64 waited_us = now_us - one->since_us;
		gint64 allowed_us = one->query != NULL ? self->limits.answer_us
		                                       : self->limits.request_us;
		if (waited_us <= allowed_us || one->is_stream)
			continue;
		if (one->query != NULL)
			g_cancellable_cancel(one->query);
		shut_down(one);
	}
}

/* Makes room for a new connection: shuts down the oldest that waits for a request. */
static void check_number(LodeConnectionWatch *self)
{
	unsigned n_open = 0;
	LodeWatchedConnection *first = NULL;

	for (guint i = self->connections->len; i-- > 0;) {
		LodeWatchedConnection *one = connection_at(self, i);
		n_open += !one->is_shut;
		if (!one->is_shut && one->query == NULL)
			first = one;
	}
	if (n_open > self->limits.max_connections && first != NULL)
		shut_down(first);
}

/* Whether the client has closed the connection, or its sending half. */
static bool has_gone(int socket)
{
	struct pollfd one = {.fd = socket, .events = POLLRDHUP};

	return poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static void *watch(void *data)
{
	LodeConnectionWatch *self = data;

	g_mutex_lock(&self->lock);
	while (!self->is_ending) {
		if (self->connections->len == 0) {
			g_cond_wait(&self->changed, &self->lock);
			continue;
		}
		gint64 now_us = g_get_monotonic_time();
		check_times(self, now_us);
		for (guint i = 0; i < self->connections->len; i++) {
			LodeWatchedConnection *one = connection_at(self, i);
			if (one->query != NULL && has_gone(one->socket))
				g_cancellable_cancel(one->query);
		}
		g_cond_wait_until(
			&self->changed, &self->lock, now_us + TICK_MS * G_TIME_SPAN_MILLISECOND);
	}
	g_mutex_unlock(&self->lock);
	return NULL;
}

LodeConnectionWatch *lode_connection_watch_new(const LodeConnectionLimits *limits)
{
	LodeConnectionWatch *self = g_new0(LodeConnectionWatch, 1);

	self->limits = *limits;
	if (self->limits.request_us == 0)
		self->limits.request_us = 20 * G_USEC_PER_SEC;
	if (self->limits.answer_us == 0)
		self->limits.answer_us = 300 * G_USEC_PER_SEC;
	g_mutex_init(&self->lock);
	g_cond_init(&self->changed);
	self->connections = g_ptr_array_new_with_free_func(free_connection);
	self->thread = g_thread_new("connections", watch, self);
	return self;
}

void lode_connection_watch_free(LodeConnectionWatch *self)
{
	if (self == NULL)
		return;
	g_mutex_lock(&self->lock);
	self->is_ending = true;
	g_cond_signal(&self->changed);
	g_mutex_unlock(&self->lock);
	g_thread_join(self->thread);
	g_ptr_array_unref(self->connections);
	g_cond_clear(&self->changed);
	g_mutex_clear(&self->lock);
	g_free(self);
}

LodeWatchedConnection *lode_connection_watch_add(LodeConnectionWatch *self, int socket)
{
	LodeWatchedConnection *connection = g_new0(LodeWatchedConnection, 1);

	connection->socket = socket;
	connection->since_us = g_get_monotonic_time();
	g_mutex_lock(&self->lock);
	g_ptr_array_add(self->connections, connection);
	check_number(self);
	if (self->connections->len == 1)
		g_cond_signal(&self->changed);
	g_mutex_unlock(&self->lock);
	return connection;
}

void lode_connection_watch_remove(LodeConnectionWatch *self, LodeWatchedConnection *connection)
{
	g_mutex_lock(&self->lock);
	/* The rest must stay in the order of arrival. */
	g_ptr_array_remove(self->connections, connection);
	g_mutex_unlock(&self->lock);
}

void lode_connection_watch_begin(
	LodeConnectionWatch *self, LodeWatchedConnection *connection, GCancellable *query)
{
	g_mutex_lock(&self->lock);
	g_set_object(&connection->query, query);
	connection->since_us = g_get_monotonic_time();
	g_mutex_unlock(&self->lock);
}

void lode_connection_watch_lift(LodeConnectionWatch *self, LodeWatchedConnection *connection)
{
	g_mutex_lock(&self->lock);
	connection->is_stream = true;
	g_mutex_unlock(&self->lock);
}

void lode_connection_watch_end(LodeConnectionWatch *self, LodeWatchedConnection *connection)
{
	g_mutex_lock(&self->lock);
	connection->is_stream = false;
	g_clear_object(&connection->query);
	connection->since_us = g_get_monotonic_time();
	g_mutex_unlock(&self->lock);
}

void lode_connection_watch_stop(LodeConnectionWatch *self)
{
	g_mutex_lock(&self->lock);
	for (guint i = 0; i < self->connections->len; i++) {
		LodeWatchedConnection *one = connection_at(self, i);
		if (one->query != NULL)
			g_cancellable_cancel(one->query);
		shut_down(one);
	}
	g_mutex_unlock(&self->lock);
}
