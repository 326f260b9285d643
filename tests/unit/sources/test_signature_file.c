/* SPDX-License-Identifier: MIT */
/* Signatures as text: the way there and back, and each fault with its line. */
#include "model/index.h"
#include "sources/signature_file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static const char good[] = "lode-signature 2\n"
			   "name gzip, level 9\n"
			   "profiles 3\n"
			   "frequency exact\n"
			   "executions 58100400\n"
			   "min-support 0.001\n"
			   "attributes kind,mem\n"
			   "seconds-per-execution 2.5e-10 1e-11\n"
			   "seconds-per-unit 0.25 0.01\n"
			   "opcodes 1 3 1\n"
			   "0.5 0.01 mov\n"
			   "0.25 0.02 add\n"
			   "0.25 0 sub\n"
			   "opcodes 2 1 0.9\n"
			   "0.25 0.02 mov add\n"
			   "opcodes 3 0 0.8\n"
			   "opcodes 4 0 0.7\n"
			   "attributes 1 1 1\n"
			   "0.5 0.01 kind:load+mem:pointer\n"
			   "attributes 2 1 0.9\n"
			   "0.25 0.02 kind:load+mem:pointer -\n"
			   "attributes 3 0 0.8\n"
			   "attributes 4 0 0.7\n"
			   "files 2\n"
			   "0.75 93ac61ec libc.so.6\n"
			   "0.25 - a%20tool\n"
			   "end\n";

static LodeSignature *read_text(const char *text, GError **error)
{
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("lode-XXXXXX.sig", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	LodeSignature *signature = lode_signature_file_read(path, error);
	if (error != NULL && *error != NULL && g_str_has_prefix((*error)->message, path)) {
		g_autofree char *rest = g_strdup((*error)->message + strlen(path));
		g_free((*error)->message);
		(*error)->message = g_strconcat("FILE", rest, NULL);
	}
	g_unlink(path);
	return signature;
}

static void test_round_trip(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeSignature) signature = read_text(good, &error);
	g_autoptr(GString) text = g_string_new(NULL), again = g_string_new(NULL);

	g_assert_no_error(error);
	g_assert_cmpstr(signature->name, ==, "gzip, level 9");
	g_assert_cmpuint(signature->n_profiles, ==, 3);
	g_assert_cmpint(signature->frequency, ==, LODE_FREQUENCY_EXACT);
	g_assert_cmpfloat(signature->seconds_per_unit.mean, ==, 0.25);
	g_assert_cmpuint(signature->sequences[LODE_SEQUENCES_OPCODES][0]->len, ==, 3);
	g_assert_cmpuint(signature->files->len, ==, 2);
	g_autofree char *tool = lode_signature_file_text("/usr/bin/a tool", NULL);
	g_assert_cmpstr(LODE_AT(signature->files, LodeSignatureFile, 1).text, ==, tool);
	lode_signature_file_append(signature, text);
	g_autoptr(LodeSignature) second = read_text(text->str, &error);
	g_assert_no_error(error);
	lode_signature_file_append(second, again);
	g_assert_cmpstr(text->str, ==, again->str);
}

/* Blank lines, comments, lines of DOS, and figures that are not there. */
static void test_what_may_differ(void)
{
	g_autoptr(GString) text = g_string_new(good);
	g_autoptr(GError) error = NULL;

	g_string_replace(text, "seconds-per-execution 2.5e-10 1e-11\n", "\n# no time\n", 0);
	g_string_replace(text, "seconds-per-unit 0.25 0.01\n", "", 0);
	g_string_replace(text, "\n", "\r\n", 0);
	g_autoptr(LodeSignature) signature = read_text(text->str, &error);
	g_assert_no_error(error);
	g_assert_false(signature->seconds_per_execution.is_known);
	g_assert_false(signature->seconds_per_unit.is_known);
}

/* Files of version 1 say nothing of files. */
static void test_first_version(void)
{
	g_autoptr(GString) text = g_string_new(good);
	g_autoptr(GError) error = NULL;

	g_string_replace(text, "lode-signature 2", "lode-signature 1", 1);
	g_string_truncate(text, (gsize)(strstr(text->str, "files 2") - text->str));
	g_string_append(text, "end\n");
	g_autoptr(LodeSignature) signature = read_text(text->str, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(signature->sequences[LODE_SEQUENCES_ATTRIBUTES][1]->len, ==, 1);
	g_assert_cmpuint(signature->files->len, ==, 0);
}

static void test_faults(void)
{
	static const struct {
		const char *part, *in_its_place, *message;
	} cases[] = {
		{"lode-signature 2", "lode-signature 3",
			"FILE: line 1: a signature of version 3, made by a newer lode; this one "
			"reads version 2"},
		{"lode-signature 2", "lode-signature 1",
			"FILE: line 24: 'files 2', expected 'end'"},
		{"lode-signature 2",
			"\x7f"
			"ELF",
			"FILE: line 1: a control character"},
		{"lode-signature 2", "hello",
			"FILE: line 1: 'hello', expected 'lode-signature 2': not a signature"},
		{"profiles 3\n", "",
			"FILE: line 3: 'frequency exact', expected 'profiles' and a number"},
		{"profiles 3", "profiles 0", "FILE: line 3: profiles must not be 0"},
		{"profiles 3", "profiles 2.5", "FILE: line 3: profiles: not a whole number"},
		{"profiles 3", "profiles -1",
			"FILE: line 3: '-1', expected a number from 0 to 1e+09"},
		{"profiles 3", "profiles nan",
			"FILE: line 3: 'nan', expected a number from 0 to 1e+09"},
		{"profiles 3", "profiles 0x3",
			"FILE: line 3: '0x3', expected a number from 0 to 1e+09"},
		{"frequency exact", "frequency often",
			"FILE: line 4: 'frequency often', expected 'frequency' and exact, sampled, "
			"inferred or given"},
		{"0.25 0.02 add\n", "",
			"FILE: line 13: 'opcodes 2 1 0.9', expected a sequence: the section has "
			"fewer than it says"},
		{"0.25 0.02 add", "0.25 0.02 add 1", "FILE: line 12: expected a sequence of 1"},
		{"0.25 0.02 add", "0.25 0.02 xor",
			"FILE: line 13: out of order: sequences come by falling support, then by "
			"bytes"},
		{"0.25 0 sub", "0.2 0 mov", "FILE: line 13: 'mov' comes a second time"},
		{"0.25 0 sub", "0.0001 0 sub", "FILE: line 13: a support below min-support"},
		{"0.25 0.02 add", "0.25 add",
			"FILE: line 12: 'add', expected a number from 0 to 1"},
		{"0.5 0.01 mov", "0.9 0.01 mov",
			"FILE: line 13: the supports of the section add up to more than it says"},
		{"opcodes 3 0 0.8\n", "",
			"FILE: line 16: 'opcodes 4 0 0.7', expected the section 'opcodes 3'"},
		{"opcodes 3 0 0.8", "opcodes 3 0 1.8",
			"FILE: line 16: '1.8', expected a number from 0 to 1.00001"},
		{"opcodes 3 0 0.8", "opcodes 3 0 0.8 x", "FILE: line 16: 'x' is too much"},
		{"end\n", "", "FILE: line 26: the file ends, expected 'end': it was cut short"},
		{"end\n", "end\nname x\n", "FILE: line 28: 'name x', expected nothing after 'end'"},
		{"files 2\n", "",
			"FILE: line 24: '0.75 93ac61ec libc.so.6', expected the section 'files'"},
		{"files 2", "files 3",
			"FILE: line 27: 'end', expected a file: the section has fewer than it "
			"says"},
		{"files 2", "files 1", "FILE: line 26: '0.25 - a%20tool', expected 'end'"},
		{"0.75 93ac61ec", "0 93ac61ec", "FILE: line 25: a share of 0"},
		{"0.75 93ac61ec", "0.75", "FILE: line 25: expected a build-id or '-', and a name"},
		{"0.75 93ac61ec", "0.75 XY",
			"FILE: line 25: expected a build-id or '-', and a name"},
		{"0.75 93ac61ec", "0.15 93ac61ec",
			"FILE: line 26: out of order: files come by falling share, then by bytes"},
		{"0.75 93ac61ec libc.so.6", "0.75 - a%20tool",
			"FILE: line 26: '- a%20tool' comes a second time"},
		{"opcodes 4 0 0.7\n", "opcodes 4 0 0.7\n0.1 0 a b c d\n",
			"FILE: line 18: '0.1 0 a b c d', expected the section 'attributes 1'"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GString) text = g_string_new(good);
		g_autoptr(GError) error = NULL;
		g_assert_cmpuint(
			g_string_replace(text, cases[i].part, cases[i].in_its_place, 1), ==, 1);
		g_assert_null(read_text(text->str, &error));
		g_assert_cmpstr(error->message, ==, cases[i].message);
	}
}

/* However it is cut, it is not taken for a whole one. */
static void test_cut(void)
{
	for (size_t length = 0; length + 1 < strlen(good); length++) {
		g_autofree char *text = g_strndup(good, length);
		g_autoptr(GError) error = NULL;
		g_assert_null(read_text(text, &error));
		g_assert_nonnull(error);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/signature_file/round_trip", test_round_trip);
	g_test_add_func("/signature_file/what_may_differ", test_what_may_differ);
	g_test_add_func("/signature_file/first_version", test_first_version);
	g_test_add_func("/signature_file/faults", test_faults);
	g_test_add_func("/signature_file/cut", test_cut);
	return g_test_run();
}
