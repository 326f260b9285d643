/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/code_checks.h"

#include "base/arrays/partition_point.h"
#include "base/text/rule_file.h"
#include "images/instructions/register_use.h"
#include "images/variants/import_slots.h"

#include <string.h>

static const char builtin_checks[] =
#include "ingest/join/attributes/checks_ini.h"
	;

enum {
	MAX_KINDS = 14,        /* of the file; two more follow */
	MAX_INSTRUCTIONS = 40, /* of a way */
	MAX_JUMPS = 4,
};

/* A group of the file. */
typedef struct {
	const char *name;
	LodeGlobs *functions;
} Kind;

static const LodeRuleKey keys[] = {
	{"functions", offsetof(Kind, functions), LODE_RULE_KEY_GLOBS, .is_needed = true}};
static const LodeRuleForm form = {"checks.ini", sizeof(Kind), keys, G_N_ELEMENTS(keys)};

struct LodeCodeChecks {
	LodeRuleFile *kinds; /* Kind */
	LodeInstructionDecoder decoder;
	LodeBinaryImage *image; /* that the answers are of */
	const LodeImportSlots *slots;
	GHashTable *ways; /* address → kind + 1 of the way from there */
};

LodeCodeChecks *lode_code_checks_parse(const char *text, GError **error)
{
	g_autoptr(LodeRuleFile) kinds = lode_rule_file_read(&form, text, error);

	if (kinds == NULL)
		return NULL;
	if (kinds->n > MAX_KINDS) {
		lode_rule_file_fail(kinds, lode_rule_file_at(kinds, MAX_KINDS), "functions",
			"no further group", error);
		return NULL;
	}
	LodeCodeChecks *self = g_new0(LodeCodeChecks, 1);
	self->kinds = g_steal_pointer(&kinds);
	self->ways = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	lode_instruction_decoder_init(&self->decoder);
	return self;
}

LodeCodeChecks *lode_code_checks_new(void)
{
	g_autoptr(GError) error = NULL;
	LodeCodeChecks *self = lode_code_checks_parse(builtin_checks, &error);

	g_assert_no_error(error);
	return self;
}

void lode_code_checks_free(LodeCodeChecks *self)
{
	if (self == NULL)
		return;
	lode_rule_file_free(self->kinds);
	g_hash_table_unref(self->ways);
	g_free(self);
}

static uint8_t kind_trap(const LodeCodeChecks *self)
{
	return (uint8_t)(self->kinds->n + 1);
}

static uint8_t kind_other(const LodeCodeChecks *self)
{
	return (uint8_t)(self->kinds->n + 2);
}

const char *lode_code_checks_name(const LodeCodeChecks *self, uint8_t kind)
{
	if (kind == kind_trap(self))
		return "trap";
	return kind == kind_other(self)
	               ? "other"
	               : ((const Kind *)lode_rule_file_at(self->kinds, kind - 1U))->name;
}

/* The function that begins at or before an address, and has it; NULL: none. */
static const LodeBinaryFunction *function_at(const LodeBinaryImage *image, uint64_t address)
{
	size_t n;
	const LodeBinaryFunction *functions = lode_binary_image_functions(image, &n);
	size_t low = LODE_PARTITION_POINT(n, i, functions[i].address <= address);

	return low > 0 && address - functions[low - 1].address < functions[low - 1].size
	               ? &functions[low - 1]
	               : NULL;
}

/* By the name of a function; 0: it may return. */
static uint8_t kind_of_name(const LodeCodeChecks *self, const char *full_name)
{
	size_t length = strlen(full_name);

	if (g_str_has_suffix(full_name, "@plt"))
		length -= strlen("@plt");
	g_autofree char *name = g_strndup(full_name, length);
	for (guint i = 0; i < self->kinds->n; i++) {
		const Kind *kind = lode_rule_file_at(self->kinds, i);
		if (lode_globs_match(kind->functions, name))
			return (uint8_t)(i + 1);
	}
	return 0;
}

static uint8_t kind_of_function(const LodeCodeChecks *self, uint64_t address)
{
	const LodeBinaryFunction *function = function_at(self->image, address);

	return function != NULL && function->address == address ? kind_of_name(self, function->name)
	                                                        : 0;
}

/* Kind of the function that a call or jump finds in memory. */
static uint8_t kind_of_slot(const LodeCodeChecks *self, uint64_t address)
{
	size_t size;
	const uint8_t *code = lode_binary_image_bytes(self->image, address, &size);
	LodeRegisterUse use;
	const char *name = NULL;

	if (self->slots != NULL && code != NULL &&
		lode_register_use_decode(&use, code, size, address) && use.memory.is_relative &&
		use.memory.registers == 0)
		name = lode_import_slots_find(self->slots, (uint64_t)use.memory.displacement);
	return name != NULL ? kind_of_name(self, name) : 0;
}

static bool decode(LodeCodeChecks *self, uint64_t address, LodeDecodedInstruction *out)
{
	size_t size;
	const uint8_t *code = lode_binary_image_bytes(self->image, address, &size);

	return code != NULL &&
	       lode_instruction_decoder_decode(&self->decoder, code, size, address, out);
}

/* Whether nothing comes after a call that returns to an address: its function ends, or there is an
 * instruction that stops the program. */
static bool is_end(LodeCodeChecks *self, uint64_t call, uint64_t address)
{
	const LodeBinaryFunction *function = function_at(self->image, call);
	LodeDecodedInstruction next;

	return function == NULL || address - function->address >= function->size ||
	       !decode(self, address, &next) || next.branch == LODE_BRANCH_STOP;
}

/* Follows a way from an address to where it ends; 0: not at a failed check. */
static uint8_t follow(LodeCodeChecks *self, uint64_t address)
{
	LodeDecodedInstruction decoded;
	int n_jumps = 0;
	uint8_t kind = 0;

	for (int i = 0; i < MAX_INSTRUCTIONS && decode(self, address, &decoded); i++) {
		const uint64_t next = address + decoded.length;

		switch (decoded.branch) {
		case LODE_BRANCH_CALL:
			kind = kind_of_function(self, decoded.target);
			if (kind != 0)
				return kind;
			if (is_end(self, address, next))
				return kind_other(self);
			break;
		case LODE_BRANCH_INDIRECT_CALL:
			kind = kind_of_slot(self, address);
			if (kind != 0)
				return kind;
			if (is_end(self, address, next))
				return kind_other(self);
			break;
		case LODE_BRANCH_JUMP:
			kind = kind_of_function(self, decoded.target);
			if (kind != 0 || ++n_jumps > MAX_JUMPS || !decoded.has_target)
				return kind;
			address = decoded.target;
			continue;
		case LODE_BRANCH_STOP:
			return kind_trap(self);
		case LODE_BRANCH_NONE:
			break;
		default:
			return 0;
		}
		address = next;
	}
	return 0;
}

static uint8_t kind_of_way(LodeCodeChecks *self, uint64_t address)
{
	void *found = g_hash_table_lookup(self->ways, &address);
	uint8_t kind;

	if (found != NULL)
		return (uint8_t)(GPOINTER_TO_UINT(found) - 1);
	kind = follow(self, address);
	if (kind != 0 && strcmp(lode_code_checks_name(self, kind), "none") == 0)
		kind = 0;
	g_hash_table_insert(
		self->ways, g_memdup2(&address, sizeof address), GUINT_TO_POINTER((guint)kind + 1));
	return kind;
}

void lode_code_checks_select(
	LodeCodeChecks *self, LodeBinaryImage *image, const LodeImportSlots *slots)
{
	if (self->image != image)
		g_hash_table_remove_all(self->ways);
	self->image = image;
	self->slots = slots;
}

uint8_t lode_code_checks_find(LodeCodeChecks *self, uint64_t target, uint64_t next)
{
	const uint8_t taken = kind_of_way(self, target), not_taken = kind_of_way(self, next);
	/* where both fail, the check came before */
	return taken != 0 && not_taken != 0 ? 0 : taken | not_taken;
}

LodeCallee lode_code_callee(const LodeBinaryImage *image, uint64_t target)
{
	const LodeBinaryFunction *function = function_at(image, target);

	if (function == NULL || function->address != target)
		return LODE_CALLEE_ANY;
	if (g_str_has_suffix(function->name, "@plt"))
		return LODE_CALLEE_PLT;
	return function->size <= LODE_SMALL_FUNCTION ? LODE_CALLEE_SMALL : LODE_CALLEE_ANY;
}
