/* SPDX-License-Identifier: MIT */
#include "record/ptrace/program_rights.h"

#include "record/programs/running_process.h"
#include "record/programs/script_program.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A tracer with this capability does not take rights from who it traces. */
static bool may_trace_all(void)
{
	g_autofree char *status = lode_thread_status_read(getpid(), getpid());

	return (lode_thread_status_number(status, "CapEff", 16) >> CAP_SYS_PTRACE & 1) != 0;
}

/* Neither gives rights on a file system or in a process that allows none. */
static bool gives_no_rights(const char *path)
{
	struct statvfs system;

	return (statvfs(path, &system) == 0 && (system.f_flag & ST_NOSUID) != 0) ||
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

char *lode_program_rights_obstacle(const char *path, const char *const *argv)
{
	g_autofree char *name = NULL;
	g_autoptr(GPtrArray) line = lode_script_program(path, argv, &name);
	const char *executed = line->pdata[0], *kind = NULL;
	struct stat status;

	if (stat(executed, &status) != 0)
		return NULL;
	if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid())
		kind = "set-user-ID";
	else if ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		 status.st_gid != getegid())
		kind = "set-group-ID";
	else if (getxattr(executed, "security.capability", NULL, 0) > 0)
		kind = "a program with capabilities";
	if (kind == NULL || may_trace_all() || gives_no_rights(executed))
		return NULL;
	return g_strdup_printf("'%s' is %s and would not get its rights while it is traced, so "
			       "that it ran without being sampled",
		executed, kind);
}
