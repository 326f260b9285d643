/* SPDX-License-Identifier: MIT */
/*
 * Access control of the page's server. A profile has code, paths and symbols of a program that may
 * be confidential, and any web page that the user visits can send requests to this machine. So a
 * request is answered if all of these conditions hold:
 *
 *   Host     is this machine by number or "localhost", with our port: a name that an attacker's
 *            DNS server points here (DNS rebinding) is not
 *   Origin   is ours where there is one, and a POST has one: no other site's page asks
 *   cookie   has the secret that came with the address that was printed
 *
 * The address has a token; the page that it opens sets the cookie. A second token, for the address
 * that a browser is started with, is valid once, as other users can read command lines.
 * Private to serve/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeRequestGate LodeRequestGate;

/* Conditions besides Host and Origin. */
typedef enum {
	LODE_GATE_OPEN,    /* a part of the page, the same for everybody */
	LODE_GATE_ENTRY,   /* cookie or token */
	LODE_GATE_GUARDED, /* cookie */
} LodeGateKind;

/* Header fields as received; NULL: missing. */
typedef struct {
	bool is_post;
	const char *host;
	const char *origin;
	const char *fetch_site; /* Sec-Fetch-Site */
	const char *cookie;     /* the value of our cookie */
	const char *token;      /* of the address */
	unsigned n_hosts;
} LodeGateRequest;

/* Creates the secrets. `is_remote`: the server accepts other machines, too, which use numeric
 * addresses. Errors: _IO (the system gives no random numbers). */
LodeRequestGate *lode_request_gate_new(uint16_t port, bool is_remote, GError **error);
void lode_request_gate_free(LodeRequestGate *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRequestGate, lode_request_gate_free)

/* NULL: the request is accepted. Otherwise the reason, without any text of the request. */
const char *lode_request_gate_refusal(
	LodeRequestGate *self, LodeGateKind kind, const LodeGateRequest *request);

const char *lode_request_gate_token(const LodeRequestGate *self);
const char *lode_request_gate_token_once(const LodeRequestGate *self);
const char *lode_request_gate_cookie_name(const LodeRequestGate *self); /* "lode-8123" */
const char *lode_request_gate_cookie(const LodeRequestGate *self);      /* its value */
