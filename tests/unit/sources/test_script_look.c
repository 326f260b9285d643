/* SPDX-License-Identifier: MIT */
/* The raw data of looks at scripts: written and read, cut short, of another version, too long. */
#include "sources/perf_data/script_look.h"

#include <string.h>

static const LodeScriptCode code = {7, 12, 40, "python", "Größe.messen", "/home/me/größe.py"};

static void test_code(void)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_autofree LodeScriptLook *look = g_new0(LodeScriptLook, 1);

	lode_script_code_append(&code, bytes);
	g_assert_cmpuint((bytes->len + sizeof(uint32_t)) % sizeof(uint64_t), ==, 0);
	g_assert_true(lode_script_look_read(look, bytes->data, bytes->len));
	g_assert_cmpint(look->kind, ==, LODE_SCRIPT_CODE);
	g_assert_cmpuint(look->code.number, ==, 7);
	g_assert_cmpuint(look->code.first_line, ==, 12);
	g_assert_cmpuint(look->code.last_line, ==, 40);
	g_assert_cmpstr(look->code.language, ==, "python");
	g_assert_cmpstr(look->code.function, ==, "Größe.messen");
	g_assert_cmpstr(look->code.file, ==, "/home/me/größe.py");
}

static void test_frames(void)
{
	const LodeScriptFrame frames[] = {{7, 13}, {9, 2}, {7, 40}};
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_autofree LodeScriptLook *look = g_new0(LodeScriptLook, 1);

	lode_script_frames_append(frames, 3, LODE_SCRIPT_IS_CUT, bytes);
	g_assert_true(lode_script_look_read(look, bytes->data, bytes->len));
	g_assert_cmpint(look->kind, ==, LODE_SCRIPT_FRAMES);
	g_assert_cmpuint(look->flags, ==, LODE_SCRIPT_IS_CUT);
	g_assert_cmpuint(look->n_frames, ==, 3);
	g_assert_true(memcmp(look->frames, frames, sizeof(frames)) == 0);
	/* more than there may be, in a file that was made to say so */
	const uint32_t n = LODE_SCRIPT_MAX_FRAMES + 1;
	memcpy(bytes->data + 12, &n, sizeof(n));
	g_assert_false(lode_script_look_read(look, bytes->data, bytes->len));
}

static void test_loop(void)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_autofree LodeScriptLook *look = g_new0(LodeScriptLook, 1);

	lode_script_loop_append(UINT64_C(0x7f0012345678), bytes);
	g_assert_cmpuint((bytes->len + sizeof(uint32_t)) % sizeof(uint64_t), ==, 0);
	g_assert_true(lode_script_look_read(look, bytes->data, bytes->len));
	g_assert_cmpint(look->kind, ==, LODE_SCRIPT_LOOP);
	g_assert_cmpuint(look->loop, ==, UINT64_C(0x7f0012345678));
	g_assert_false(lode_script_look_read(look, bytes->data, 15));
}

static void test_command(void)
{
	g_autofree char *words = g_strnfill(2 * LODE_COMMAND_MAX_TEXT, 'x');
	const LodeCommandLook command = {
		LODE_COMMAND_IS_CUT, 7, words, "/home/me", "/dev/null", "pipe:[1]"};
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_autofree LodeScriptLook *look = g_new0(LodeScriptLook, 1);

	lode_command_look_append(&command, bytes);
	g_assert_cmpuint((bytes->len + sizeof(uint32_t)) % sizeof(uint64_t), ==, 0);
	g_assert_true(lode_script_look_read(look, bytes->data, bytes->len));
	g_assert_cmpint(look->kind, ==, LODE_SCRIPT_COMMAND);
	g_assert_cmpuint(look->command.flags, ==, LODE_COMMAND_IS_CUT);
	g_assert_cmpuint(look->command.environment, ==, 7);
	g_assert_cmpuint(strlen(look->command.command), ==, LODE_COMMAND_MAX_TEXT - 1);
	g_assert_cmpstr(look->command.directory, ==, "/home/me");
	g_assert_cmpstr(look->command.input, ==, "/dev/null");
	g_assert_cmpstr(look->command.output, ==, "pipe:[1]");
	/* longer than lode writes it, and no UTF-8 */
	bytes->data[16 + LODE_COMMAND_MAX_TEXT - 1] = 'x';
	g_assert_false(lode_script_look_read(look, bytes->data, bytes->len));
	bytes->data[16 + LODE_COMMAND_MAX_TEXT - 1] = 0;
	bytes->data[16] = 0xff;
	g_assert_false(lode_script_look_read(look, bytes->data, bytes->len));
}

static void test_cut_of(GByteArray *bytes)
{
	g_autofree LodeScriptLook *look = g_new0(LodeScriptLook, 1);
	guint n = bytes->len;
	while (n > 0 && bytes->data[n - 1] == 0)
		n--;
	for (guint i = 0; i <= n; i++) {
		g_autofree uint8_t *part = g_memdup2(bytes->data, i);
		g_assert_false(lode_script_look_read(look, part, i));
	}
	bytes->data[0]++;
	g_assert_false(lode_script_look_read(look, bytes->data, bytes->len));
}

/* Of what is cut short nothing is read after its end. */
static void test_cut(void)
{
	const LodeCommandLook command = {0, 7, "sed -n 1p 'a b'", "/home/me", "/dev/null", "x"};
	g_autoptr(GByteArray) one = g_byte_array_new(), other = g_byte_array_new();

	lode_script_code_append(&code, one);
	test_cut_of(one);
	lode_command_look_append(&command, other);
	test_cut_of(other);
}

/* A long text is cut between its characters; lines that make no sense are refused. */
static void test_limits(void)
{
	g_autofree LodeScriptLook *look = g_new0(LodeScriptLook, 1);
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_autoptr(GString) name = g_string_new("x");
	LodeScriptCode long_code = code;

	while (name->len < 3 * LODE_SCRIPT_MAX_TEXT)
		g_string_append(name, "ß");
	long_code.function = name->str;
	lode_script_code_append(&long_code, bytes);
	g_assert_true(lode_script_look_read(look, bytes->data, bytes->len));
	g_assert_cmpuint(strlen(look->code.function), ==, LODE_SCRIPT_MAX_TEXT - 1);
	long_code.function = "f";
	long_code.last_line = 11;
	g_byte_array_set_size(bytes, 0);
	lode_script_code_append(&long_code, bytes);
	g_assert_false(lode_script_look_read(look, bytes->data, bytes->len));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sources/script-look/code", test_code);
	g_test_add_func("/sources/script-look/frames", test_frames);
	g_test_add_func("/sources/script-look/command", test_command);
	g_test_add_func("/sources/script-look/loop", test_loop);
	g_test_add_func("/sources/script-look/cut", test_cut);
	g_test_add_func("/sources/script-look/limits", test_limits);
	return g_test_run();
}
