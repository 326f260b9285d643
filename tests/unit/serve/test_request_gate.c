/* SPDX-License-Identifier: MIT */
/* Who may pass, case by case. */
#include "serve/request_gate.h"

#include <string.h>

static LodeRequestGate *new_gate(bool is_remote)
{
	LodeRequestGate *gate = lode_request_gate_new(8123, is_remote, NULL);

	g_assert_nonnull(gate);
	return gate;
}

static bool passes(LodeRequestGate *gate, LodeGateKind kind, const char *host, const char *origin)
{
	LodeGateRequest request = {.host = host,
		.n_hosts = host != NULL,
		.origin = origin,
		.cookie = lode_request_gate_cookie(gate)};

	return lode_request_gate_refusal(gate, kind, &request) == NULL;
}

static void test_host(void)
{
	static const char *const own[] = {"127.0.0.1:8123", "localhost:8123", "LocalHost:8123",
		"[::1]:8123", "127.1.2.3:8123"};
	static const char *const foreign[] = {"", ":", ":8123", "127.0.0.1", "localhost",
		"127.0.0.1:81", "127.0.0.1:8123x", "127.0.0.1:", "evil.example:8123",
		"localhost.evil.example:8123", "127.0.0.1.evil.example:8123", "[::1:8123",
		"::1]:8123", "[]:8123", "10.0.0.1:8123", "[fe80::1]:8123", "0.0.0.0:8123",
		"127.0.0.1:8123:8123"};
	g_autoptr(LodeRequestGate) gate = new_gate(false), remote = new_gate(true);

	for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
		g_assert_true(passes(gate, LODE_GATE_GUARDED, own[i], NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++)
		g_assert_false(passes(gate, LODE_GATE_OPEN, foreign[i], NULL));
	g_assert_false(passes(gate, LODE_GATE_OPEN, NULL, NULL));
	/* A number cannot be made to lead elsewhere; a name can. */
	g_assert_true(passes(remote, LODE_GATE_GUARDED, "10.0.0.1:8123", NULL));
	g_assert_false(passes(remote, LODE_GATE_GUARDED, "evil.example:8123", NULL));
}

static void test_origin(void)
{
	static const char *const foreign[] = {"null", "", "http://", "https://127.0.0.1:8123",
		"http://localhost:8123", "http://127.0.0.1:8124", "http://127.0.0.1:8123/",
		"127.0.0.1:8123"};
	g_autoptr(LodeRequestGate) gate = new_gate(false);
	LodeGateRequest post = {.is_post = true,
		.host = "127.0.0.1:8123",
		.n_hosts = 1,
		.cookie = lode_request_gate_cookie(gate)};

	g_assert_true(passes(gate, LODE_GATE_GUARDED, "127.0.0.1:8123", "http://127.0.0.1:8123"));
	for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++)
		g_assert_false(passes(gate, LODE_GATE_GUARDED, "127.0.0.1:8123", foreign[i]));
	g_assert_nonnull(lode_request_gate_refusal(gate, LODE_GATE_GUARDED, &post));
	post.origin = "http://127.0.0.1:8123";
	g_assert_null(lode_request_gate_refusal(gate, LODE_GATE_GUARDED, &post));
	post.fetch_site = "cross-site";
	g_assert_nonnull(lode_request_gate_refusal(gate, LODE_GATE_GUARDED, &post));
}

static void test_secrets(void)
{
	g_autoptr(LodeRequestGate) gate = new_gate(false), other = new_gate(false);
	LodeGateRequest request = {.host = "localhost:8123", .n_hosts = 1};

	g_assert_cmpuint(strlen(lode_request_gate_token(gate)), ==, 32);
	g_assert_cmpstr(lode_request_gate_token(gate), !=, lode_request_gate_token(other));
	g_assert_cmpstr(lode_request_gate_token(gate), !=, lode_request_gate_cookie(gate));
	g_assert_null(lode_request_gate_refusal(gate, LODE_GATE_OPEN, &request));
	g_assert_nonnull(lode_request_gate_refusal(gate, LODE_GATE_ENTRY, &request));
	request.token = lode_request_gate_token(gate);
	g_assert_null(lode_request_gate_refusal(gate, LODE_GATE_ENTRY, &request));
	g_assert_nonnull(lode_request_gate_refusal(gate, LODE_GATE_GUARDED, &request));
	g_assert_nonnull(lode_request_gate_refusal(other, LODE_GATE_ENTRY, &request));
	request.token = lode_request_gate_token_once(gate);
	g_assert_null(lode_request_gate_refusal(gate, LODE_GATE_ENTRY, &request));
	g_assert_nonnull(lode_request_gate_refusal(gate, LODE_GATE_ENTRY, &request));
	request.token = NULL;
	request.cookie = lode_request_gate_token(gate);
	g_assert_nonnull(lode_request_gate_refusal(gate, LODE_GATE_GUARDED, &request));
	request.cookie = lode_request_gate_cookie(gate);
	g_assert_null(lode_request_gate_refusal(gate, LODE_GATE_GUARDED, &request));
	g_assert_null(lode_request_gate_refusal(gate, LODE_GATE_ENTRY, &request));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/request_gate/host", test_host);
	g_test_add_func("/request_gate/origin", test_origin);
	g_test_add_func("/request_gate/secrets", test_secrets);
	return g_test_run();
}
