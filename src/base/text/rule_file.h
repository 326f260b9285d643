/* SPDX-License-Identifier: MIT */
/*
 * Rules from a file in the form of an .ini file that is compiled in. Each group is a rule; a table
 * of keys says what it may have, and where that goes in the struct of a rule:
 *
 *   {"least", offsetof(Rule, least), LODE_RULE_KEY_NUMBER, .most = 1}
 *
 * Globs that several rules have are a set: "python = python3*;libpython3*" in the group "@sets",
 * which is no rule, and "@python" where others have globs.
 *
 * Messages name the file, the group and the key, and say what is expected.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Globs: "*" stands for any characters, "?" for one. */
typedef struct LodeGlobs LodeGlobs;

/* Whether one of them matches the whole text. */
bool lode_globs_match(const LodeGlobs *self, const char *text);

/* Adds to a rule's globs those that another rule's file has for a user. *self may be NULL. */
void lode_globs_add_for(LodeGlobs **self, const LodeGlobs *from, const char *user);

typedef enum {
	LODE_RULE_KEY_TEXT,   /* const char *, not empty; NULL: not given */
	LODE_RULE_KEY_WORD,   /* bool: whether it is given; it can only be `word` */
	LODE_RULE_KEY_NUMBER, /* double, 0 … `most`; NAN: not given */
	LODE_RULE_KEY_GLOBS,  /* LodeGlobs *, of patterns that ";" separates; NULL: not given */
	/* Keys that begin with `name`, and go on with users, separated by ";": globs of the GLOBS
	 * key of the same offset, which is before this one, that are for these users too. */
	LODE_RULE_KEY_GLOBS_FOR,
	LODE_RULE_KEY_OTHER, /* const void *: the rule of another group; NULL: not given */
	LODE_RULE_KEY_BASE, /* the same; what this rule lacks of keys that are lent is from there */
} LodeRuleKeyKind;

typedef struct {
	const char *name;
	size_t offset; /* in the rule's struct */
	LodeRuleKeyKind kind;
	const char *word;
	double most;
	bool is_needed, is_lent; /* only texts and numbers are lent */
} LodeRuleKey;

typedef struct {
	const char *file; /* its name, for messages */
	size_t rule_size; /* of the struct, which begins with a const char *: the group's name */
	const LodeRuleKey *keys;
	size_t n_keys;
} LodeRuleForm;

typedef struct {
	const LodeRuleForm *form;
	guint n;
	char *rules;           /* as an array of the struct, in the order of the file */
	GStringChunk *strings; /* all texts */
} LodeRuleFile;

/* Reads `text`; the form must last as long. NULL: _CORRUPT. */
LodeRuleFile *lode_rule_file_read(const LodeRuleForm *form, const char *text, GError **error);
void lode_rule_file_free(LodeRuleFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRuleFile, lode_rule_file_free)

static inline void *lode_rule_file_at(const LodeRuleFile *self, guint rule)
{
	return self->rules + rule * self->form->rule_size;
}

/* The rule of a group; NULL: there is none of this name. */
void *lode_rule_file_named(const LodeRuleFile *self, const char *group);

/* Sets _CORRUPT: "services.ini: group 'a': 'least': expected a number". Always false. */
bool lode_rule_file_fail(const LodeRuleFile *self, const void *rule, const char *key,
	const char *expected, GError **error);
