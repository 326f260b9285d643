/* SPDX-License-Identifier: MIT */
/*
 * Wraps the functions by which a process may give up its right to the directory of the logs: its
 * log is made before.
 */
#include "stepping.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static void *real_after_log(const char *name)
{
	const int code = errno;

	stepping_keep_log();
	errno = code;
	return dlsym(RTLD_NEXT, name);
}

typedef int SetUser(uid_t user);
typedef int SetTwoUsers(uid_t real, uid_t effective);
typedef int SetThreeUsers(uid_t real, uid_t effective, uid_t saved);
typedef int SetRoot(const char *path);

EXPORTED int setuid(uid_t user)
{
	return ((SetUser *)real_after_log("setuid"))(user);
}

EXPORTED int seteuid(uid_t user)
{
	return ((SetUser *)real_after_log("seteuid"))(user);
}

EXPORTED int setreuid(uid_t real, uid_t effective)
{
	return ((SetTwoUsers *)real_after_log("setreuid"))(real, effective);
}

EXPORTED int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	return ((SetThreeUsers *)real_after_log("setresuid"))(real, effective, saved);
}

EXPORTED int chroot(const char *path)
{
	return ((SetRoot *)real_after_log("chroot"))(path);
}
