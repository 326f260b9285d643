/* SPDX-License-Identifier: MIT */
#include "base/text/java_name.h"

#include <stdbool.h>
#include <string.h>

typedef struct {
	char *text;
	size_t n, size;
} Text;

static void put(Text *self, char character)
{
	if (self->n + 1 < self->size)
		self->text[self->n++] = character;
	self->text[self->n] = '\0';
}

static void put_text(Text *self, const char *text)
{
	while (*text != '\0')
		put(self, *text++);
}

/* A hidden class's address: "/0x…", ".0x…" or "+0x…". */
static bool is_made_up(const char *text, const char *end)
{
	return end - text > 3 && strchr("/.+", text[0]) != NULL && text[1] == '0' && text[2] == 'x';
}

static void put_class(Text *self, const char *start, const char *end)
{
	for (const char *at = start; at < end && !is_made_up(at, end); at++)
		put(self, *at == '/' ? '.' : *at);
}

static const char *primitive_name(char letter)
{
	switch (letter) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'Z':
		return "boolean";
	default:
		return NULL;
	}
}

/* The end of the class name that begins after its L. */
static const char *class_end(const char *text)
{
	return text + strcspn(text, ";)");
}

static const char *without_package(const char *start, const char *end)
{
	for (const char *at = start; at < end && !is_made_up(at, end); at++)
		if (*at == '/')
			start = at + 1;
	return start;
}

/* Writes the type that stands at `text` and gives what stands after it. */
static const char *put_type(Text *self, const char *text, bool has_package)
{
	const char *dimensions = text, *name;

	while (*text == '[')
		text++;
	size_t n_dimensions = (size_t)(text - dimensions);
	name = primitive_name(*text);
	if (name != NULL) {
		put_text(self, name);
		text++;
	} else if (*text == 'L') {
		const char *end = class_end(text + 1);
		put_class(self, has_package ? text + 1 : without_package(text + 1, end), end);
		text = *end == ';' ? end + 1 : end;
	} else if (*text != '\0' && *text != ')') {
		put(self, *text++);
	}
	for (size_t i = 0; i < n_dimensions; i++)
		put_text(self, "[]");
	return text;
}

void lode_java_method_name_write(char *name, size_t size, const char *class_signature,
	const char *method, const char *method_signature)
{
	Text text = {name, 0, size};
	const char *start = class_signature + (*class_signature == 'L');

	put_class(&text, start, class_end(start));
	put(&text, '.');
	put_text(&text, method);
	put(&text, '(');
	if (*method_signature == '(')
		method_signature++;
	for (bool is_first = true; *method_signature != '\0' && *method_signature != ')';
		is_first = false) {
		if (!is_first)
			put_text(&text, ", ");
		method_signature = put_type(&text, method_signature, false);
	}
	put(&text, ')');
}

void lode_java_type_name_write(char *name, size_t size, const char *signature)
{
	Text text = {name, 0, size};

	*name = '\0';
	put_type(&text, signature, true);
}

void lode_java_source_path_write(
	char *path, size_t size, const char *class_signature, const char *source_file)
{
	Text text = {path, 0, size};
	const char *start = class_signature + (*class_signature == 'L');
	const char *name = without_package(start, class_end(start));

	*path = '\0';
	for (const char *at = start; at < name; at++)
		put(&text, *at);
	put_text(&text, source_file);
}
