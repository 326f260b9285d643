/* SPDX-License-Identifier: MIT */
/*
 * Enforces the limits on the connections of a server, in a thread of its own:
 *
 *   a client goes while its query runs              → the query is cancelled
 *   a request does not arrive, however slowly,
 *   in 20 s ("slow loris")                          → the connection is shut down
 *   an answer takes or is read for more than 300 s  → likewise, and its query is cancelled
 *   one more comes than there may be                → the first that waits is shut down
 *
 * libmicrohttpd's own time-out begins anew with each byte, which a slow loris sends.
 * Private to serve/.
 */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

typedef struct LodeConnectionWatch LodeConnectionWatch;
typedef struct LodeWatchedConnection LodeWatchedConnection;

typedef struct {
	unsigned max_connections;
	gint64 request_us, answer_us; /* 0: as above */
} LodeConnectionLimits;

LodeConnectionWatch *lode_connection_watch_new(const LodeConnectionLimits *limits);
void lode_connection_watch_free(LodeConnectionWatch *self); /* no connection may be open */

/* Adds a connection, which waits for a request. The socket must stay open until the connection is
 * removed. */
LodeWatchedConnection *lode_connection_watch_add(LodeConnectionWatch *self, int socket);
void lode_connection_watch_remove(LodeConnectionWatch *self, LodeWatchedConnection *connection);

/* A request has arrived; `query` is cancelled under the conditions above. Ends with the answer's
 * last byte. */
void lode_connection_watch_begin(
	LodeConnectionWatch *self, LodeWatchedConnection *connection, GCancellable *query);
/* The answer is a stream without a time limit. */
void lode_connection_watch_lift(LodeConnectionWatch *self, LodeWatchedConnection *connection);
void lode_connection_watch_end(LodeConnectionWatch *self, LodeWatchedConnection *connection);

/* Cancels all queries and shuts all connections down, before a server stops. */
void lode_connection_watch_stop(LodeConnectionWatch *self);
