/* SPDX-License-Identifier: MIT */
#include "base/files/pager.h"

#include <gio/gio.h>
#include <signal.h>
#include <string.h>

/* NULL: none. The caller frees it. */
static char *find_command(void)
{
	const char *command = g_getenv("LODE_PAGER");

	if (command == NULL)
		command = g_getenv("PAGER");
	if (command == NULL)
		return g_find_program_in_path("less");
	return command[0] != '\0' && strcmp(command, "cat") != 0 ? g_strdup(command) : NULL;
}

bool lode_pager_show(const char *text, size_t size)
{
	g_autofree char *command = find_command();
	g_autoptr(GBytes) bytes = g_bytes_new_static(text, size);

	if (command == NULL)
		return false;
	g_autoptr(GSubprocessLauncher)
		launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDIN_PIPE);
	g_subprocess_launcher_setenv(launcher, "LESS", "FRX", FALSE);
	g_autoptr(GSubprocess)
		pager = g_subprocess_launcher_spawn(launcher, NULL, "/bin/sh", "-c", command, NULL);
	if (pager == NULL)
		return false;
	/* Ctrl-C is for the pager, which must not lose its terminal. */
	signal(SIGINT, SIG_IGN);
	/* The user may leave it before the end of the text, which closes the pipe. */
	if (!g_subprocess_communicate(pager, bytes, NULL, NULL, NULL, NULL))
		g_subprocess_wait(pager, NULL, NULL);
	return true;
}
