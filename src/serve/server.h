/* SPDX-License-Identifier: MIT */
/*
 * The page's server: HTTP over libmicrohttpd, a thread for each connection.
 *
 *   request ──▶ gate (request_gate.h) ──▶ file of the page, or query (query.h) ──▶ answer
 *                 │            or, while a program is recorded, a stream of pictures
 *                 └─▶ refused: an answer that says why, and a line for whoever runs the server
 *
 * There are limits for the number of connections, the time of a request and of its answer
 * (connection_watch.h), the size of header and body, the requests per second and the concurrent
 * queries.
 */
#pragma once

#include "base/progress.h"
#include "serve/served_files.h"

#include <glib.h>

typedef struct LodeServer LodeServer;

typedef struct {
	const char *address; /* numeric; NULL: 127.0.0.1 */
	uint16_t port;       /* 0: any free port */
	/* Logs a request that was refused or failed; the line may contain any bytes. Called from
	 * any thread, one at a time. */
	void (*log)(const char *line, void *user_data);
	void *user_data;
	gint64 request_us; /* for tests: the time limit for a request to arrive; 0: 20 s */
} LodeServerOptions;

/* Starts to serve `files`, which must outlive the server. Errors: _USAGE (the address is not
 * numeric), _IO (the port is taken). */
LodeServer *lode_server_start(
	const LodeServedFiles *files, const LodeServerOptions *options, GError **error);

/* Cancels running queries, and waits for their end. */
void lode_server_stop(LodeServer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeServer, lode_server_stop)

/* "http://127.0.0.1:8123/?token=…"; `is_once`: with the token that is valid once. The caller frees
 * it. */
char *lode_server_link(const LodeServer *self, bool is_once);
