/* SPDX-License-Identifier: MIT */
/*
 * Files of a bounded size are read, and a bounded amount in all. A file is kept as it is, with the
 * offset of every 64th line: one of 16 million empty lines takes no more memory than others.
 *
 * Binaries are opened only for files that could be shown otherwise: mostly none of the sources of
 * libraries is on the machine.
 */
#include "views/code/source_text.h"

#include "base/arrays/sort_order.h"
#include "base/files/input_file.h"
#include "images/dwarf/source_naming.h"
#include "model/code.h"
#include "model/lines/own_lines.h"
#include "views/form/shell_word.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_FILE_BYTES = 16 << 20,
	MAX_ALL_BYTES = 128 << 20,
	MAX_LINE_BYTES = 4096, /* a longer line is generated text, and is cut */
	MARK_EVERY = 64,
	TAB_WIDTH = 8,
};

typedef struct {
	char *text;
	size_t size;
	GArray *marks;     /* uint32_t: where lines 0, 64, 128 … begin */
	GHashTable *lines; /* number → text, of the requested lines */
} SourceFile;

/* A name of the profile. */
typedef struct {
	char *path;  /* as the profile names it, after the folder where that is relative */
	char *place; /* where the file lies, after all links; NULL: it cannot be shown at all */
	int refusal; /* LodeSourceRefusal, where there is no place */
	SourceFile *file; /* NULL: not admitted so far */
} NamedFile;

/* The sources of an image. */
typedef struct {
	LodeSourceNaming *naming; /* NULL: its binary is not there */
} ImageNaming;

struct LodeSourceText {
	const LodeProfile *profile;
	const LodeSourceAccess *access;
	GPtrArray *folders;   /* char *: the user's, after all links */
	GHashTable *files;    /* path → NamedFile */
	GHashTable *namings;  /* image → ImageNaming */
	GHashTable *compiled; /* DW_AT_comp_dir → where that is, after all links; NULL: nowhere */
	char *home;           /* likewise; NULL */
	size_t bytes;
};

static void free_file(SourceFile *file)
{
	if (file == NULL)
		return;
	g_free(file->text);
	g_array_unref(file->marks);
	g_hash_table_unref(file->lines);
	g_free(file);
}

static void free_named(void *data)
{
	NamedFile *self = data;

	g_free(self->path);
	g_free(self->place);
	free_file(self->file);
	g_free(self);
}

static void free_naming(void *data)
{
	ImageNaming *self = data;

	lode_source_naming_close(self->naming);
	g_free(self);
}

LodeSourceText *lode_source_text_new(const LodeProfile *profile, const LodeSourceAccess *access)
{
	static const LodeSourceAccess none = {0};
	LodeSourceText *self = g_new0(LodeSourceText, 1);

	self->profile = profile;
	self->access = access != NULL ? access : &none;
	self->folders = g_ptr_array_new_with_free_func(free);
	for (guint i = 0; self->access->folders != NULL && self->access->folders[i] != NULL; i++) {
		char *place = realpath(self->access->folders[i], NULL);
		if (place != NULL)
			g_ptr_array_add(self->folders, place);
	}
	self->files = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_named);
	self->namings = g_hash_table_new_full(NULL, NULL, NULL, free_naming);
	self->compiled = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free);
	self->home = realpath(g_get_home_dir(), NULL);
	return self;
}

void lode_source_text_free(LodeSourceText *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->folders);
	g_hash_table_unref(self->files);
	g_hash_table_unref(self->namings);
	g_hash_table_unref(self->compiled);
	free(self->home);
	g_free(self);
}

/* Its end, in a character, is left out with the character. */
static void cut(GString *line)
{
	size_t n = MAX_LINE_BYTES;

	while (n > 0 && ((unsigned char)line->str[n] & 0xc0) == 0x80)
		n--;
	g_string_truncate(line, n);
	g_string_append(line, "…");
}

static char *plain_line(const char *text, size_t n)
{
	GString *line = g_string_new(NULL);

	while (n > 0 && text[n - 1] == '\r')
		n--;
	for (size_t i = 0; i < n && text[i] != '\0' && line->len <= MAX_LINE_BYTES; i++) {
		if (text[i] != '\t') {
			g_string_append_c(line, text[i]);
			continue;
		}
		do
			g_string_append_c(line, ' ');
		while (line->len % TAB_WIDTH != 0);
	}
	if (line->len > MAX_LINE_BYTES)
		cut(line);
	return g_string_free(line, FALSE);
}

/* Where the line after the one that begins at `at` does; the size where there is none. */
static size_t next_line(const SourceFile *file, size_t at)
{
	const char *end = memchr(file->text + at, '\n', file->size - at);

	return end != NULL ? (size_t)(end - file->text) + 1 : file->size;
}

/* No more than the size: files in /proc have none, and give without end or wait for more. */
static SourceFile *read_file(LodeSourceText *self, const LodeInputFile *input)
{
	if (input->size > MAX_FILE_BYTES || input->size + self->bytes > MAX_ALL_BYTES)
		return NULL;
	char *text = lode_input_file_load(input, 0, (size_t)input->size, NULL);
	if (text == NULL)
		return NULL;
	SourceFile *file = g_new0(SourceFile, 1);
	file->text = text;
	file->size = (size_t)input->size;
	file->marks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	file->lines = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	self->bytes += file->size;
	uint32_t n = 0;
	for (size_t at = 0; at < file->size; at = next_line(file, at), n++) {
		uint32_t mark = (uint32_t)at;
		if (n % MARK_EVERY == 0)
			g_array_append_val(file->marks, mark);
	}
	return file;
}

/* --- which files may be shown --- */

/* Opens a regular file of this user or of root, or for root of anybody, who could hide nothing from
 * it; and says where it lies, which the caller frees, or why it is not opened. */
static LodeInputFile *open_own(const char *path, char **out_place, int *out_refusal)
{
	g_autoptr(LodeInputFile) input = lode_input_file_open(path, NULL);
	char link[64], place[PATH_MAX];
	struct stat status;

	*out_refusal = LODE_SOURCE_UNREADABLE;
	if (input == NULL) {
		if (stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR))
			*out_refusal = LODE_SOURCE_MISSING;
		return NULL;
	}
	if (fstat(input->fd, &status) != 0)
		return NULL;
	if (geteuid() != 0 && status.st_uid != geteuid() && status.st_uid != 0) {
		*out_refusal = LODE_SOURCE_OTHER_OWNER;
		return NULL;
	}
	g_snprintf(link, sizeof(link), "/proc/self/fd/%d", input->fd);
	ssize_t length = readlink(link, place, sizeof(place));
	if (length <= 0 || (size_t)length >= sizeof(place) || place[0] != '/')
		return NULL;
	*out_place = g_strndup(place, (gsize)length);
	return g_steal_pointer(&input);
}

/* The part of a path after a folder and a slash; NULL: it is not below it. */
static const char *part_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	while (length > 0 && folder[length - 1] == '/')
		length--;
	return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* By the suffix. A key or a password is in a file with another one, or with none. */
static bool has_source_name(const char *place)
{
	static const char *const suffixes[] = {"c", "h", "cc", "cpp", "cxx", "c++", "C", "H", "hh",
		"hpp", "hxx", "h++", "ipp", "ixx", "inl", "inc", "tcc", "tpp", "txx", "def", "cppm",
		"s", "S", "asm", "nasm", "m", "mm", "cu", "cuh", "cl", "y", "yy", "l", "ll", "lex",
		"rs", "go", "d", "di", "zig", "nim", "vala", "v", "odin", "cr", "swift", "f", "F",
		"for", "f77", "f90", "F90", "f95", "F95", "f03", "F03", "f08", "F08", "ftn", "fpp",
		"adb", "ads", "pas", "pp", "hs", "lhs", "ml", "mli", "mll", "mly", "re", "java",
		"kt", "kts", "scala", "groovy", "clj", "js", "mjs", "cjs", "jsx", "ts", "mts",
		"cts", "tsx", "py", "pyx", "pxd", "rb", "lua", "jl", "php", "pl", "pm", "cs", "fs",
		"vb", "erl", "ex", "exs", "lisp", "scm", "r", "R", NULL};
	const char *dot = strrchr(place, '.');

	return dot != NULL && g_strv_contains(suffixes, dot + 1);
}

/* Below a folder in which one starts with a dot come no sources, but histories, settings, keys. */
static bool is_hidden(const char *part)
{
	return part[0] == '.' || strstr(part, "/.") != NULL;
}

/*
 * A program can name any folder as the one where it was compiled. If that holds the user's home,
 * only files directly in it count.
 */
static const char *part_of_compiled(LodeSourceText *self, const char *place, const char *folder)
{
	char *real = NULL;

	if (folder[0] != '/')
		return NULL;
	if (!g_hash_table_lookup_extended(self->compiled, folder, NULL, (void **)&real)) {
		real = realpath(folder, NULL);
		g_hash_table_insert(self->compiled, g_strdup(folder), real);
	}
	const char *part = real != NULL ? part_below(place, real) : NULL;
	bool is_wide = real != NULL && (strcmp(real, "/") == 0 || self->home == NULL ||
					       strcmp(real, self->home) == 0 ||
					       part_below(self->home, real) != NULL);
	return part != NULL && is_wide && strchr(part, '/') != NULL ? NULL : part;
}

static const char *part_of_named(const LodeSourceText *self, const char *place)
{
	const char *part = NULL;

	for (guint i = 0; part == NULL && i < self->folders->len; i++)
		part = part_below(place, self->folders->pdata[i]);
	return part;
}

static LodeSourceNaming *naming_of(LodeSourceText *self, uint32_t image)
{
	const LodeImage *recorded = lode_profile_image(self->profile, image);
	ImageNaming *known = g_hash_table_lookup(self->namings, GUINT_TO_POINTER(image));

	if (known == NULL) {
		known = g_new0(ImageNaming, 1);
		known->naming = lode_source_naming_open(recorded->path, recorded->build_id);
		g_hash_table_insert(self->namings, GUINT_TO_POINTER(image), known);
	}
	return known->naming;
}

/* Where the code of an instruction was compiled, by its binary, if that names the file; NULL. */
static const char *compile_folder(
	LodeSourceText *self, const LodeInstruction *instruction, uint32_t image, const char *file)
{
	LodeSourceNaming *naming = naming_of(self, image);

	return naming != NULL ? lode_source_naming_folder(naming, instruction->address, file)
	                      : NULL;
}

/* −1: it may be shown. `folder`: as compile_folder() says; `has_binary`: it could say something. */
static int find_refusal(
	LodeSourceText *self, const char *place, bool has_binary, const char *folder)
{
	const char *part = part_of_named(self, place);

	if (has_binary && folder == NULL)
		return LODE_SOURCE_NOT_NAMED;
	/* They hold no secrets, and some headers of C++ have no suffix. */
	if (has_binary && lode_is_toolchain_folder(place))
		return -1;
	if (has_binary && part == NULL)
		part = part_of_compiled(self, place, folder);
	if (part == NULL)
		return LODE_SOURCE_OUTSIDE;
	return is_hidden(part) || !has_source_name(place) ? LODE_SOURCE_ODD_NAME : -1;
}

static void note_refusal(LodeSourceText *self, const char *place, LodeSourceRefusal refusal)
{
	GHashTable *refused = self->access->refused;
	void *known;

	if (refused == NULL)
		return;
	if (!g_hash_table_lookup_extended(refused, place, NULL, &known) ||
		GPOINTER_TO_INT(known) < (int)refusal)
		g_hash_table_insert(refused, g_strdup(place), GINT_TO_POINTER(refusal));
}

static NamedFile *find_named(LodeSourceText *self, const char *path)
{
	NamedFile *named = g_hash_table_lookup(self->files, path);

	if (named == NULL) {
		named = g_new0(NamedFile, 1);
		named->path = g_strdup(path);
		lode_input_file_close(open_own(path, &named->place, &named->refusal));
		g_hash_table_insert(self->files, named->path, named);
	}
	return named;
}

/* A name without a folder is of the one where the code was compiled; where no binary says which
 * that is, of the first of the user's that has such a file. NULL: nowhere. */
static NamedFile *find_relative(
	LodeSourceText *self, const char *file, bool has_binary, const char *folder)
{
	NamedFile *named = NULL;

	if (has_binary) {
		g_autofree char *path = folder != NULL && folder[0] == '/'
		                                ? g_build_filename(folder, file, NULL)
		                                : NULL;
		return path != NULL ? find_named(self, path) : NULL;
	}
	for (guint i = 0; i < self->folders->len && (named == NULL || named->place == NULL); i++) {
		g_autofree char *path = g_build_filename(self->folders->pdata[i], file, NULL);
		named = find_named(self, path);
	}
	return named;
}

/* A file that is not there, as one that was compiled on a different machine or moved since, below a
 * folder of the user's: with as many of its folders as are there. NULL: nowhere. */
static NamedFile *find_moved(LodeSourceText *self, const char *file)
{
	enum { MOST_FOLDERS = 32 };
	const char *part = file;

	for (unsigned n = 0; part != NULL && n < MOST_FOLDERS; n++) {
		part += part[0] == '/';
		for (guint i = 0; i < self->folders->len; i++) {
			g_autofree char *path = g_build_filename(
				self->folders->pdata[i], part, NULL);
			NamedFile *named = find_named(self, path);
			if (named->place != NULL)
				return named;
		}
		part = strchr(part, '/');
	}
	return NULL;
}

static bool is_newer(const LodeInputFile *input, const LodeImage *image)
{
	struct stat source, program;

	return image->kind == LODE_IMAGE_FILE && fstat(input->fd, &source) == 0 &&
	       stat(image->path, &program) == 0 && source.st_mtime > program.st_mtime;
}

static const char *admit_file(LodeSourceText *self, NamedFile *named, const LodeImage *image,
	bool has_binary, const char *folder)
{
	int opened;
	g_autofree char *place = NULL;
	g_autoptr(LodeInputFile) input = NULL;
	int refusal = find_refusal(self, named->place, has_binary, folder);

	if (refusal >= 0) {
		note_refusal(self, named->place, (LodeSourceRefusal)refusal);
		return NULL;
	}
	/* The file that is read must be the one that was checked. */
	input = open_own(named->path, &place, &opened);
	if (input == NULL || strcmp(place, named->place) != 0 ||
		(named->file = read_file(self, input)) == NULL)
		return NULL;
	if (self->access->refused != NULL)
		g_hash_table_remove(self->access->refused, named->place);
	if (is_newer(input, image))
		note_refusal(self, named->place, LODE_SOURCE_NEWER);
	return named->path;
}

const char *lode_source_text_admit(
	LodeSourceText *self, const LodeInstruction *instruction, const char *file)
{
	const LodeProfile *profile = self->profile;
	uint32_t image = lode_profile_function(profile, instruction->function)->image;
	const LodeImage *recorded = lode_profile_image(profile, image);
	bool has_binary = recorded->kind == LODE_IMAGE_FILE && recorded->build_id != NULL;
	NamedFile *named = file != NULL && file[0] == '/' ? find_named(self, file) : NULL;

	if (file == NULL)
		return NULL;
	if (named != NULL && named->file != NULL)
		return named->path;
	const char *folder = has_binary ? compile_folder(self, instruction, image, file) : NULL;
	if (named == NULL)
		named = find_relative(self, file, has_binary, folder);
	NamedFile *moved = named != NULL && named->refusal == LODE_SOURCE_MISSING &&
	                                   named->place == NULL
	                           ? find_moved(self, file)
	                           : NULL;
	if (named != NULL && named->place == NULL && moved == NULL)
		note_refusal(self, named->path, (LodeSourceRefusal)named->refusal);
	named = moved != NULL ? moved : named;
	if (named == NULL || named->place == NULL)
		return NULL;
	return named->file != NULL ? named->path
	                           : admit_file(self, named, recorded, has_binary, folder);
}

static const char *refusal_to_text(LodeSourceRefusal refusal)
{
	switch (refusal) {
	case LODE_SOURCE_NOT_NAMED:
		return "which no program on this machine with the recorded build-id names";
	case LODE_SOURCE_OUTSIDE:
		return "which is outside the folder that it was compiled in";
	case LODE_SOURCE_ODD_NAME:
		return "which has not the name of a source file, or is in a hidden folder";
	case LODE_SOURCE_MISSING:
		return "which is not there; --source DIR looks for it below DIR";
	case LODE_SOURCE_UNREADABLE:
		return "which cannot be read";
	case LODE_SOURCE_OTHER_OWNER:
		return "which belongs to another user: its owner or root sees it";
	case LODE_SOURCE_NEWER:
		return "which is newer than the program: lines may have moved";
	case LODE_N_SOURCE_REFUSALS:
		break;
	}
	return "";
}

GPtrArray *lode_source_access_refusals(const LodeSourceAccess *self)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	guint n;
	g_autofree char **names = (char **)g_hash_table_get_keys_as_array(self->refused, &n);

	if (n > 0)
		qsort(names, n, sizeof(*names), lode_compare_texts);
	for (int refusal = 0; refusal < LODE_N_SOURCE_REFUSALS; refusal++) {
		const char *first = NULL;
		unsigned count = 0;
		for (guint i = 0; i < n; i++) {
			if (GPOINTER_TO_INT(g_hash_table_lookup(self->refused, names[i])) !=
				refusal)
				continue;
			first = first != NULL ? first : names[i];
			count++;
		}
		if (count == 0)
			continue;
		g_autofree char *folder = g_path_get_dirname(first);
		g_autofree char *quoted = lode_shell_word(folder);
		bool helps = refusal == LODE_SOURCE_OUTSIDE && folder[0] == '/';
		g_ptr_array_add(lines,
			g_strdup_printf("source of %u file%s is %sshown, such as %s, %s%s%s%s",
				count, count == 1 ? "" : "s",
				refusal == LODE_SOURCE_NEWER ? "" : "not ", first,
				refusal_to_text((LodeSourceRefusal)refusal),
				helps ? "; --source " : "", helps ? quoted : "",
				helps ? " shows it" : ""));
	}
	return lines;
}

/* --- lines --- */

/* The beginning of line `number`, counted from 0; NULL if the file has fewer. */
static const char *find_line(SourceFile *file, uint32_t number)
{
	char *known = g_hash_table_lookup(file->lines, GUINT_TO_POINTER(number));

	if (known != NULL)
		return known;
	if (number / MARK_EVERY >= file->marks->len)
		return NULL;
	size_t at = g_array_index(file->marks, uint32_t, number / MARK_EVERY);
	for (uint32_t i = 0; i < number % MARK_EVERY; i++)
		at = next_line(file, at);
	if (at >= file->size)
		return NULL;
	size_t end = next_line(file, at);
	bool has_end = file->text[end - 1] == '\n';
	known = plain_line(file->text + at, end - at - has_end);
	g_hash_table_insert(file->lines, GUINT_TO_POINTER(number), known);
	return known;
}

const char *lode_source_text_line(LodeSourceText *self, const char *path, uint32_t line)
{
	NamedFile *named = g_hash_table_lookup(self->files, path);
	const char *text = named != NULL && named->file != NULL && line > 0
	                           ? find_line(named->file, line - 1)
	                           : NULL;

	if (text != NULL && self->access->shown != NULL)
		g_hash_table_add(self->access->shown, g_strdup(named->place));
	return text;
}
