/* SPDX-License-Identifier: MIT */
/* Commands in the texts of scripts, and which of them a process executes. */
#include "ingest/sampled/starts/process_starts.h"

#include "seeds.h"

#include <string.h>

static const char script[] = "#!/bin/bash\n"                                      /* 1 */
			     "# sed in a comment\n"                               /* 2 */
			     "set -e\n"                                           /* 3 */
			     "base_of() {\n"                                      /* 4 */
			     "    echo \"$1\" | sed 's/;x$//' | tr 'A-Z' 'a-z'\n" /* 5 */
			     "}\n"                                                /* 6 */
			     "for f in $(ls *.txt); do\n"                         /* 7 */
			     "    n=$(wc -l < \"$f\")\n"                          /* 8 */
			     "    m=`grep -c x \"$f\"`\n"                         /* 9 */
			     "    if [ $n -gt 3 ] && /usr/bin/test -f y; then\n"  /* 10 */
			     "        LC_ALL=C sort -k2 \\\n"                     /* 11 */
			     "            -t, \"$f\" >> out 2>&1\n"               /* 12 */
			     "    fi\n"                                           /* 13 */
			     "done\n"                                             /* 14 */
			     "cat <<EOF | head -1\n"                              /* 15 */
			     "wc -c is text here\n"                               /* 16 */
			     "EOF\n"                                              /* 17 */
			     "case $x in a) sleep 1;; b) sleep 2;; esac\n"        /* 18 */
			     "(cd /tmp && md5sum a)\n"                            /* 19 */
			     "x=$((1 + 2)); ${tool:-awk} '{ print }' $x\n"        /* 20 */
			     "sleep 1 &\n"                                        /* 21 */
			     "./step.sh \"$x\"\n";                                /* 22 */

static const char makefile[] = "VERSION = $(shell cat version.txt | tr -d .)\n" /* 1 */
			       "WHO := $(shell id -un)\n"                       /* 2 */
			       "all: a.html\n"                                  /* 3 */
			       "%.html: %.txt\n"                                /* 4 */
			       "\t@sed 's/$$x/$(VERSION)/' $< \\\n"             /* 5 */
			       "\t  | sort > $@\n"                              /* 6 */
			       "clean: ; rm -f out\n"                           /* 7 */
			       "db:\n"                                          /* 8 */
			       "\tsleep 2\n";                                   /* 9 */

typedef struct {
	const char *name, *command;
	uint32_t line; /* 0: none */
	const char *function;
} Case;

static void check(const LodeScriptCommands *commands, const Case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const LodeScriptCommand *found = lode_script_commands_find(
			commands, cases[i].name, cases[i].command);
		g_test_message("%s, case %zu", cases[i].name, i);
		g_assert_cmpuint(found != NULL ? found->line : 0, ==, cases[i].line);
		g_assert_cmpstr(found != NULL ? found->function : NULL, ==, cases[i].function);
	}
}

static void test_shell(void)
{
	static const Case cases[] = {
		{"sed", "sed 's/;x$//'", 5, "base_of"},
		{"tr", NULL, 5, "base_of"},
		{"ls", "ls a.txt b.txt", 7, NULL},
		{"wc", "wc -l", 8, NULL},
		{"grep", "grep -c x a.txt", 9, NULL},
		{"test", "/usr/bin/test -f y", 10, NULL},
		{"sort", "/usr/bin/sort -k2 -t, 'a b.txt'", 11, NULL},
		{"cat", "cat", 15, NULL},
		{"head", "head -1", 15, NULL},
		{"sleep", "sleep 2", 18, NULL},
		{"sleep", NULL, 0, NULL}, /* one of several */
		{"md5sum", "md5sum a", 19, NULL},
		{"mawk", "awk '{ print }' 3", 20, NULL},
		{"step.sh", "/bin/sh ./step.sh 3", 22, NULL},
		{"EOF", NULL, 0, NULL},
		{"for", NULL, 0, NULL},
		{"cut", "cut -f1", 0, NULL},
	};
	g_autoptr(LodeScriptCommands)
		commands = lode_script_commands_new(script, LODE_SCRIPT_OF_SHELL);

	check(commands, cases, G_N_ELEMENTS(cases));
}

static void test_make(void)
{
	static const Case cases[] = {
		{"sh", "/bin/sh -c 'cat version.txt | tr -d .'", 1, "VERSION"},
		{"cat", "cat version.txt", 1, "VERSION"},
		{"id", "id -un", 2, "WHO"},
		{"sh", "/bin/sh -c 'sed '\\''s/$x/12/'\\'' b.txt | sort > b.html'", 5, "%.html"},
		{"sort", "sort", 5, "%.html"},
		{"rm", "rm -f out", 7, "clean"},
		{"sleep", "sleep 2", 9, "db"},
		{"sh", "/bin/sh -c 'echo x'", 0, NULL},
		{"gcc", "gcc a.c", 0, NULL},
	};
	g_autoptr(LodeScriptCommands)
		commands = lode_script_commands_new(makefile, LODE_SCRIPT_OF_MAKE);

	check(commands, cases, G_N_ELEMENTS(cases));
}

/* Any text ends, and lines are those of the text. */
static void test_any_text(void)
{
	static const char letters[] = "ab \n\t$(){}[]`'\"\\;|&<>#=*:-!x";

	for (unsigned round = 0; round < random_rounds(300, 30000); round++) {
		g_autoptr(GString) text = g_string_new(NULL);
		uint32_t lines = 1;
		for (int i = random_int_range(0, 400); i > 0; i--) {
			char c = letters[random_int_range(0, (int)strlen(letters))];
			g_string_append_c(text, c);
			lines += c == '\n';
		}
		for (int language = 0; language < 2; language++) {
			g_autoptr(LodeScriptCommands) commands = lode_script_commands_new(
				text->str, (LodeScriptLanguage)language);
			for (guint i = 0; i < lode_script_commands_n(commands); i++) {
				uint32_t line = lode_script_commands_at(commands, i)->line;
				g_assert_cmpuint(line, >=, 1);
				g_assert_cmpuint(line, <=, lines);
			}
			lode_script_commands_find(commands, "a", "a b");
			lode_script_commands_find(commands, "x", "sh -c 'a $(b'");
		}
	}
}

/* Commands within commands, deeper than anybody writes. */
static void test_deep(void)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (int i = 0; i < 100000; i++)
		g_string_append(text, "$(a ");
	g_autoptr(LodeScriptCommands)
		commands = lode_script_commands_new(text->str, LODE_SCRIPT_OF_SHELL);
	g_assert_cmpuint(lode_script_commands_n(commands), <, 100000);
}

/* Arguments are any bytes, as names of files in another character set. */
static void test_any_bytes(void)
{
	static const Case cases[] = {
		{"cut", "cut -f1 \xe2.a_long_name", 2, NULL},
		{"cut", "cut -f1 a_long_name\xe2", 0, NULL},
		{"cut", "cut \xff", 0, NULL},
	};
	g_autoptr(LodeScriptCommands) commands = lode_script_commands_new(
		"cut -f2\ncut -f1 $x.a_long_name\n", LODE_SCRIPT_OF_SHELL);

	check(commands, cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/script_commands/shell", test_shell);
	g_test_add_func("/script_commands/make", test_make);
	add_random_test("/script_commands/any_text", test_any_text,
		"R02S6a0f1d2c3b4e5f60718293a4b5c6d7e8", NULL);
	g_test_add_func("/script_commands/deep", test_deep);
	g_test_add_func("/script_commands/any_bytes", test_any_bytes);
	return g_test_run();
}
