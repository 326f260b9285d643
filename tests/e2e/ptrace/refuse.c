/* SPDX-License-Identifier: MIT */
/*
 * Runs a program with a system-call filter as containers have one (seccomp(2)): refuse CALLS ERRNO
 * PROGRAM ARGUMENT…; CALLS is "perf" or "perf,ptrace", for root "perf,privileged" so that
 * set-user-ID programs keep their rights. ERRNO: EPERM, EACCES or ENOSYS.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number_of(const char *name)
{
	return strcmp(name, "EACCES") == 0 ? EACCES : strcmp(name, "ENOSYS") == 0 ? ENOSYS : EPERM;
}

int main(int argc, char **argv)
{
	int code = argc > 3 ? number_of(argv[2]) : 0;
	int also = argc > 3 && strstr(argv[1], "ptrace") != NULL ? SYS_ptrace : SYS_perf_event_open;
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)also, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

	if (argc < 4) {
		fprintf(stderr, "usage: refuse CALLS ERRNO PROGRAM ARGUMENT…\n");
		return 2;
	}
	/* Without new privileges an ordinary user may set a filter, but set-user-ID has no effect.
	 */
	if ((strstr(argv[1], "privileged") == NULL &&
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("refuse");
		return 77;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 1;
}
