/* SPDX-License-Identifier: MIT */
#include "serve/request_gate.h"

#include "base/error.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/random.h>

enum { SECRET_BYTES = 16 };

struct LodeRequestGate {
	uint16_t port;
	bool is_remote;
	char token[2 * SECRET_BYTES + 1], token_once[2 * SECRET_BYTES + 1];
	char cookie[2 * SECRET_BYTES + 1];
	char cookie_name[24];
	gint is_once_used; /* atomic */
};

static bool make_secret(char out_text[2 * SECRET_BYTES + 1], GError **error)
{
	unsigned char bytes[SECRET_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"the system gives no random numbers: %s", g_strerror(errno));
		return false;
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		g_snprintf(out_text + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

LodeRequestGate *lode_request_gate_new(uint16_t port, bool is_remote, GError **error)
{
	g_autoptr(LodeRequestGate) self = g_new0(LodeRequestGate, 1);

	if (!make_secret(self->token, error) || !make_secret(self->token_once, error) ||
		!make_secret(self->cookie, error))
		return NULL;
	self->port = port;
	self->is_remote = is_remote;
	/* Cookies belong to a host, not to a port: each server needs a cookie name of its own. */
	g_snprintf(self->cookie_name, sizeof(self->cookie_name), "lode-%u", port);
	return g_steal_pointer(&self);
}

void lode_request_gate_free(LodeRequestGate *self)
{
	g_free(self);
}

/* Constant-time comparison: its duration does not reveal how many characters match. */
static bool is_secret(const char *given, const char *secret)
{
	size_t length = strlen(secret);
	unsigned char difference = 0;

	if (given == NULL || strlen(given) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		difference |= (unsigned char)(given[i] ^ secret[i]);
	return difference == 0;
}

/* "127.0.0.1:8123", "[::1]:8123", "localhost:8123" */
static bool is_own_host(const LodeRequestGate *self, const char *host)
{
	const char *colon = strrchr(host, ':');
	guint64 port = 80;

	if (colon != NULL && strchr(colon, ']') != NULL)
		colon = NULL;
	if (colon != NULL && !g_ascii_string_to_unsigned(colon + 1, 10, 1, 65535, &port, NULL))
		return false;
	g_autofree char *name = colon != NULL ? g_strndup(host, (gsize)(colon - host))
	                                      : g_strdup(host);
	if (port != self->port)
		return false;
	if (g_ascii_strcasecmp(name, "localhost") == 0)
		return true;
	size_t length = strlen(name);
	if (length > 2 && name[0] == '[' && name[length - 1] == ']') {
		name[length - 1] = '\0';
		memmove(name, name + 1, length - 1);
	}
	g_autoptr(GInetAddress) address = g_inet_address_new_from_string(name);
	return address != NULL && (self->is_remote || g_inet_address_get_is_loopback(address));
}

static bool is_own_origin(const LodeGateRequest *request)
{
	static const char scheme[] = "http://";

	return strncmp(request->origin, scheme, sizeof(scheme) - 1) == 0 &&
	       g_ascii_strcasecmp(request->origin + sizeof(scheme) - 1, request->host) == 0;
}

const char *lode_request_gate_refusal(
	LodeRequestGate *self, LodeGateKind kind, const LodeGateRequest *request)
{
	if (request->n_hosts != 1 || request->host == NULL || !is_own_host(self, request->host))
		return "the Host is not this server's";
	if (request->origin != NULL && !is_own_origin(request))
		return "it comes from a page of another origin";
	if (request->is_post && request->origin == NULL)
		return "a POST without an Origin";
	/* A link in a mail or a terminal leads to the entry page; links to other addresses are
	 * refused. */
	if (kind != LODE_GATE_ENTRY && request->fetch_site != NULL &&
		strcmp(request->fetch_site, "same-origin") != 0 &&
		strcmp(request->fetch_site, "none") != 0)
		return "it comes from a page of another site";
	if (kind == LODE_GATE_OPEN || is_secret(request->cookie, self->cookie))
		return NULL;
	if (kind == LODE_GATE_ENTRY && is_secret(request->token, self->token))
		return NULL;
	if (kind == LODE_GATE_ENTRY && is_secret(request->token, self->token_once) &&
		g_atomic_int_compare_and_exchange(&self->is_once_used, 0, 1))
		return NULL;
	return kind == LODE_GATE_ENTRY && request->token != NULL ? "its token is wrong or used up"
	                                                         : "no token and no cookie";
}

const char *lode_request_gate_token(const LodeRequestGate *self)
{
	return self->token;
}

const char *lode_request_gate_token_once(const LodeRequestGate *self)
{
	return self->token_once;
}

const char *lode_request_gate_cookie_name(const LodeRequestGate *self)
{
	return self->cookie_name;
}

const char *lode_request_gate_cookie(const LodeRequestGate *self)
{
	return self->cookie;
}
