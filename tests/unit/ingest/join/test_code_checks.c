/* SPDX-License-Identifier: MIT */
/*
 * Branches of an image that is assembled for the test: each has a label that says what it is,
 * "b_KIND_text", or "n_text" where it is no check.
 */
#include "ingest/join/attributes/code_checks.h"

#include "../../images/tool_output.h"
#include "base/error.h"
#include "images/variants/import_slots.h"

static const char SOURCE[] =
	"	.globl f, large, small\n"
	"	.type f, @function\n"
	"f:\n"
	"b_bounds_call:	jae 1f\n"
	"b_bounds_fall_through:	jb 2f\n"
	"	mov %rax, %rcx\n"
	"	call \"runtime.panicIndex\"\n"
	"2:\n"
	"b_assert_after_calls:	je 3f\n"
	"b_stack_jump:	jne 4f\n"
	"b_trap_trap:	je 5f\n"
	"b_other_end:	je 6f\n"
	"b_other_then_trap:	je 7f\n"
	"b_throw_slot:	je 8f\n"
	"b_stack_elsewhere:	je cold\n"
	"n_exit:	je 9f\n"
	"n_branch:	je 10f\n"
	"n_return:	je 11f\n"
	"n_both:	je 12f\n"
	"	call abort\n"
	"12:	call abort\n"
	"n_loop:	je 13f\n"
	"n_unknown:	je 14f\n"
	"n_far:	je 15f\n"
	"c_small:	call small\n"
	"c_large:	call large\n"
	"11:	ret\n"
	"1:	lea (%rdx), %rdi\n"
	"	call \"runtime.panicIndex\"\n"
	"3:	call large\n"
	"	call *%rax\n"
	"	call __assert_fail\n"
	"4:	jmp __stack_chk_fail\n"
	"5:	ud2\n"
	"7:	call large\n"
	"	ud2\n"
	"8:	call *slot(%rip)\n"
	"9:	call exit\n"
	"10:	call large\n"
	"	je 11b\n"
	"	call abort\n"
	"13:	jmp 13b\n"
	"14:	jmp *%rax\n"
	"15:	.rept 50\n"
	"	inc %eax\n"
	"	.endr\n"
	"	call abort\n"
	"6:	call large\n"
	"	.size f, . - f\n"
	"	.balign 16, 0xcc\n"
	"	.type cold, @function\n"
	"cold:	call __stack_chk_fail\n"
	"	.size cold, . - cold\n"
	"	.type large, @function\n"
	"large:	.skip 65, 0x90\n"
	"	ret\n"
	"	.size large, . - large\n"
	"	.type small, @function\n"
	"small:	ret\n"
	"	.size small, . - small\n"
	"	.irp name, abort, exit, __assert_fail, __stack_chk_fail, \"runtime.panicIndex\", "
	"__cxa_throw\n"
	"	.globl \"\\name\"\n"
	"	.type \"\\name\", @function\n"
	"\"\\name\":	ud2\n"
	"	.size \"\\name\", 2\n"
	"	.endr\n"
	"	.data\n"
	"slot:	.quad __cxa_throw\n";

typedef struct {
	char *directory;
	LodeBinaryImage *image;
	LodeImportSlots *slots;
	LodeCodeChecks *checks;
} Fixture;

static void fixture_clear(Fixture *self)
{
	lode_code_checks_free(self->checks);
	lode_import_slots_free(self->slots);
	lode_binary_image_close(self->image);
	tool_directory_remove(self->directory);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fixture, fixture_clear)

static bool fixture_init(Fixture *self)
{
	g_autoptr(GError) error = NULL;

	self->directory = tool_directory();
	g_autofree char *source = g_build_filename(self->directory, "f.s", NULL);
	g_autofree char *program = g_build_filename(self->directory, "program", NULL);
	g_autofree char *command = g_strdup_printf(
		"gcc -nostdlib -static-pie -Wl,-e,f -o %s %s", program, source);
	g_assert_true(g_file_set_contents(source, SOURCE, -1, NULL));
	if (!tool_run(command))
		return false;
	self->image = lode_binary_image_open(program, NULL, &error);
	g_assert_no_error(error);
	self->slots = lode_import_slots_new(self->image);
	self->checks = lode_code_checks_new();
	lode_code_checks_select(self->checks, self->image, self->slots);
	return true;
}

static void decode(const Fixture *self, uint64_t address, LodeDecodedInstruction *out)
{
	LodeInstructionDecoder decoder;
	size_t size;
	const uint8_t *code = lode_binary_image_bytes(self->image, address, &size);

	lode_instruction_decoder_init(&decoder);
	g_assert_nonnull(code);
	g_assert_true(lode_instruction_decoder_decode(&decoder, code, size, address, out));
}

static void check_label(Fixture *self, const char *label, uint64_t address)
{
	g_auto(GStrv) words = g_strsplit(label, "_", 3);
	LodeDecodedInstruction decoded;

	decode(self, address, &decoded);
	if (strcmp(words[0], "c") == 0) {
		g_assert_cmpuint(lode_code_callee(self->image, decoded.target), ==,
			strcmp(words[1], "small") == 0 ? LODE_CALLEE_SMALL : LODE_CALLEE_ANY);
		return;
	}
	uint8_t kind = lode_code_checks_find(
		self->checks, decoded.target, address + decoded.length);
	const char *name = kind != 0 ? lode_code_checks_name(self->checks, kind) : "none";
	const char *expected = strcmp(words[0], "b") == 0 ? words[1] : "none";
	if (strcmp(name, expected) != 0)
		g_error("%s is %s", label, name);
}

static void test_branches(void)
{
	g_auto(Fixture) fixture = {0};
	int n = 0;

	if (!fixture_init(&fixture)) {
		g_test_skip("gcc is missing");
		return;
	}
	g_autofree char *symbols = tool_output("nm %s/program", fixture.directory);
	g_auto(GStrv) lines = g_strsplit(symbols != NULL ? symbols : "", "\n", -1);
	for (char **line = lines; *line != NULL; line++) {
		g_auto(GStrv) words = g_strsplit(*line, " ", 3);

		if (g_strv_length(words) < 3 || words[2][1] != '_' ||
			strchr("bnc", words[2][0]) == NULL)
			continue;
		check_label(&fixture, words[2], g_ascii_strtoull(words[0], NULL, 16));
		n++;
	}
	g_assert_cmpint(n, ==, 18);
}

static void test_broken_file(void)
{
	static const char *const texts[] = {"[a]\n", "[a]\nfunctions = f;;g\n",
		"[a]\nfunctions = f\nimages = b\n", "functions = f\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeCodeChecks) checks = lode_code_checks_parse(texts[i], &error);

		g_assert_null(checks);
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/code_checks/branches", test_branches);
	g_test_add_func("/ingest/code_checks/broken_file", test_broken_file);
	return g_test_run();
}
