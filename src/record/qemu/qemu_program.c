/* SPDX-License-Identifier: MIT */
#include "record/qemu/qemu_program.h"

#include "base/error.h"
#include "base/files/own_library.h"
#include "images/elf/elf_file.h"
#include "record/programs/preloaded_library.h"
#include "record/programs/script_program.h"

#include <fnmatch.h>
#include <string.h>

#define PLUGIN_FOLDER "qemu_plugin"
#define PLUGIN LODE_OWN_LIBRARY("trace")

char *lode_qemu_program_emulator(GError **error)
{
	char *path = g_find_program_in_path(LODE_QEMU_EMULATOR);

	if (path == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			LODE_QEMU_EMULATOR " is not installed (Debian: apt install qemu-user)");
	return path;
}

static void add(GPtrArray *line, const char *word)
{
	g_ptr_array_add(line, g_strdup(word));
}

/* In a list of options a comma is written twice. */
static void append_value(GString *options, const char *value)
{
	for (; *value != '\0'; value++)
		g_string_append(options, *value == ',' ? ",," : (char[]){*value, '\0'});
}

static bool is_wanted(const char *path, const char *const *only)
{
	g_autofree char *name = g_path_get_basename(path);

	for (; only != NULL && *only != NULL; only++)
		if (fnmatch(*only, strchr(*only, '/') != NULL ? path : name, 0) == 0)
			return true;
	return false;
}

/* The plugin's argument, see tools/qemu_plugin/follow.h. */
static char *plugin_text(const LodeQemuProgram *self, const char *plugin, const GPtrArray *program)
{
	GString *text = g_string_new(NULL);

	append_value(text, plugin);
	g_string_append_printf(text, ",%s", self->plugin_option);
	append_value(text, self->plugin_value);
	if (self->more_options != NULL && *self->more_options != '\0')
		g_string_append_printf(text, ",%s", self->more_options);
	if (!self->is_alone)
		g_string_append(text, ",follow=on");
	for (const char *const *glob = self->only; glob != NULL && *glob != NULL; glob++) {
		g_string_append(text, ",only=");
		append_value(text, *glob);
	}
	if (self->only != NULL && !is_wanted(self->program, self->only) &&
		!is_wanted(program->pdata[0], self->only))
		g_string_append(text, ",record=no");
	return g_string_free(text, FALSE);
}

/* See tools/qemu_plugin/follow.c, which does the same for programs that follow. */
static bool is_for_program_only(const char *variable)
{
	static const char *const starts[] = {"LD_", "GLIBC_TUNABLES=", "MALLOC_", "G_", "QEMU_"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (g_str_has_prefix(variable, starts[i]))
			return strchr(variable, ',') == NULL;
	return false;
}

/* QEMU gives the program its own environment in reverse; what the loader of QEMU itself would obey
 * is on its command line. */
static GPtrArray *environment_of(const LodeQemuProgram *self, GPtrArray *line)
{
	g_auto(GStrv) given = self->environment != NULL ? g_strdupv((char **)self->environment)
	                                                : g_get_environ();
	GPtrArray *environment = g_ptr_array_new_with_free_func(g_free);

	for (size_t i = g_strv_length(given); i-- > 0;) {
		if (is_for_program_only(given[i])) {
			add(line, "-E");
			add(line, given[i]);
		} else {
			add(environment, given[i]);
		}
	}
	g_ptr_array_add(environment, NULL);
	return environment;
}

GPtrArray *lode_qemu_program_line(
	const LodeQemuProgram *self, GPtrArray **out_environment, GError **error)
{
	/* A script finds its own path as it was typed. */
	const char *path = strchr(self->argv[0], '/') != NULL ? self->argv[0] : self->program;
	g_autofree char *plugin = lode_preloaded_library_locate(PLUGIN_FOLDER, PLUGIN, error);
	g_autofree char *name = NULL;

	if (plugin == NULL)
		return NULL;
	g_autoptr(GPtrArray) program = lode_script_program(path, self->argv, &name);
	g_autofree char *given = plugin_text(self, plugin, program);
	const char *const words[] = {self->emulator, "-cpu", self->cpu, "-plugin", given};
	GPtrArray *line = g_ptr_array_new_with_free_func(g_free);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		add(line, words[i]);
	*out_environment = environment_of(self, line);
	add(line, "-0");
	add(line, name);
	for (guint i = 0; i < program->len; i++)
		add(line, program->pdata[i]);
	return line;
}

/* "cpu family\t: 6" of the first processor; NULL: not there. */
static char *cpu_fact(char **lines, const char *name)
{
	for (size_t i = 0; lines[i] != NULL && *lines[i] != '\0'; i++) {
		const char *colon = strchr(lines[i], ':');
		if (colon == NULL || !g_str_has_prefix(lines[i], name) ||
			strspn(lines[i] + strlen(name), " \t") !=
				(size_t)(colon - lines[i]) - strlen(name))
			continue;
		return g_strstrip(g_strdup(colon + 1));
	}
	return NULL;
}

void lode_qemu_program_fail_only(const char *const *only, GError **error)
{
	g_autofree char *names = g_strjoinv("', '", (char **)only);

	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"no program that was executed has a name like '%s'", names);
}

/* Libraries choose the fastest implementation by the processor's vendor and model. */
char *lode_qemu_program_cpu(void)
{
	g_autofree char *text = NULL;

	if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL))
		return g_strdup("max");
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autofree char *vendor = cpu_fact(lines, "vendor_id");
	g_autofree char *family = cpu_fact(lines, "cpu family");
	g_autofree char *model = cpu_fact(lines, "model");
	bool is_known = g_strcmp0(vendor, "GenuineIntel") == 0 ||
	                g_strcmp0(vendor, "AuthenticAMD") == 0;

	if (!is_known || family == NULL || model == NULL)
		return g_strdup("max");
	return g_strdup_printf("max,vendor=%s,family=%" G_GUINT64_FORMAT
			       ",model=%" G_GUINT64_FORMAT,
		vendor, g_ascii_strtoull(family, NULL, 10), g_ascii_strtoull(model, NULL, 10));
}

/* System V ABI, AMD64 supplement, "Program Property": what a note of the file says. */
static uint32_t needed_isa(const uint8_t *note, size_t size)
{
	enum { NOTE_HEADER = 16, PROPERTY_HEADER = 8, NEEDED = 0xc0008002 };
	uint32_t head[2], bits;

	for (size_t at = NOTE_HEADER; at + PROPERTY_HEADER + sizeof(bits) <= size;) {
		memcpy(head, note + at, sizeof(head));
		memcpy(&bits, note + at + PROPERTY_HEADER, sizeof(bits));
		if (head[0] == (uint32_t)NEEDED && head[1] == sizeof(bits))
			return bits;
		if (head[1] > size)
			break;
		at += PROPERTY_HEADER + ((size_t)head[1] + 7) / 8 * 8;
	}
	return 0;
}

char *lode_qemu_program_obstacle(const char *path)
{
	enum { GNU_PROPERTY = 0x6474e553, LEVEL_4 = 8 };
	g_autoptr(LodeElfFile) file = lode_elf_file_open(path, NULL);

	for (size_t i = 0; file != NULL && file->undecoded == NULL && i < file->n_segments; i++) {
		const Elf64_Phdr *segment = &file->segments[i];
		size_t n = 0;
		if (segment->p_type != GNU_PROPERTY)
			continue;
		const uint8_t *note = lode_elf_file_loaded_bytes(file, segment->p_vaddr, &n);
		if (note != NULL && (needed_isa(note, MIN(n, segment->p_filesz)) & LEVEL_4) != 0)
			return g_strdup_printf(
				"'%s' is built for processors with AVX-512 (x86-64-v4), which "
				"qemu does not emulate; build it with -march=x86-64-v3",
				path);
	}
	return NULL;
}
