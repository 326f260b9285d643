/* SPDX-License-Identifier: MIT */
#include "ingest/memory/tail_path.h"

#include "images/code/tail_jumps.h"

#include <string.h>

/* The length of a symbol without its version, or "@plt". */
static size_t bare_length(const char *symbol)
{
	return strcspn(symbol, "@");
}

static bool is_plt(const LodeBinaryFunction *function)
{
	return function->symbol != NULL && g_str_has_suffix(function->symbol, "@plt");
}

static bool is_inner(const LodeTailQuestion *self, const LodeBinaryFunction *called)
{
	const LodeBinaryFunction *inner = self->inner;

	if (inner == NULL) {
		g_autofree char *name = g_strndup(called->name, bare_length(called->name));
		return is_plt(called) && lode_allocator_names_is_allocator(self->names, name);
	}
	if (called == inner || called->symbol == NULL || inner->symbol == NULL ||
		self->is_inner_of_runtime)
		return called == inner || is_plt(called);
	size_t length = bare_length(called->symbol);
	/* "f.cold" and "f.part.0" are parts of f */
	return strncmp(called->symbol, inner->symbol, length) == 0 &&
	       (bare_length(inner->symbol) == length || inner->symbol[length] == '.');
}

/* Searches `function`, whose frame is gone, and the functions that it jumps to. */
static bool find_path(const LodeTailQuestion *self, const LodeBinaryFunction *function,
	LodeTailPath *path, unsigned *inout_n_left)
{
	enum { MAX_JUMPS = 16, MAX_CODE = 1 << 14 };
	LodeTailJump jumps[MAX_JUMPS];
	size_t n_bytes = 0, depth = path->n;
	const uint8_t *code = lode_code_image_bytes(self->image, function->address, &n_bytes);

	if (code == NULL || depth == LODE_MAX_TAIL_PATH || function->size > MAX_CODE ||
		*inout_n_left == 0)
		return false;
	--*inout_n_left;
	size_t n = lode_tail_jumps_find(
		code, MIN(n_bytes, function->size), function->address, jumps, MAX_JUMPS);
	for (size_t i = 0; i < n; i++) {
		const LodeBinaryFunction *next = jumps[i].target != 0
		                                         ? lode_code_image_function(
								   self->image, jumps[i].target)
		                                         : NULL;
		path->n = depth + 1;
		if (jumps[i].target != 0 && next == NULL)
			continue;
		if (next == NULL || is_inner(self, next) ||
			(!is_plt(next) && find_path(self, next, path, inout_n_left))) {
			path->jumps[depth] = jumps[i].address;
			return true;
		}
	}
	return false;
}

LodeTailPath lode_tail_path_find(const LodeTailQuestion *question)
{
	LodeTailPath path = {.n = 0};
	unsigned n_left = 16;
	size_t n = 0;
	const uint8_t *code = lode_code_image_bytes(
		question->image, question->return_address - LODE_DIRECT_CALL_SIZE, &n);
	uint64_t target = code != NULL && n >= LODE_DIRECT_CALL_SIZE
	                          ? lode_called_address(code, question->return_address)
	                          : 0;
	const LodeBinaryFunction *called =
		target != 0 ? lode_code_image_function(question->image, target) : NULL;

	if (called == NULL || called->address != target || is_inner(question, called))
		return path;
	path.is_unknown = is_plt(called) || !find_path(question, called, &path, &n_left);
	if (path.is_unknown)
		path.n = 0;
	/* they were found outermost first */
	for (size_t i = 0; i < path.n / 2; i++) {
		uint64_t outer = path.jumps[i];
		path.jumps[i] = path.jumps[path.n - 1 - i];
		path.jumps[path.n - 1 - i] = outer;
	}
	return path;
}
