/* SPDX-License-Identifier: MIT */
/* Programs that limit themselves. */
#include "odd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *text)
{
	(void)!write(1, text, strlen(text));
}

static int strict(void)
{
	odd_work(1, odd_rounds(10000000));
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		say("refused\n");
	say(odd_work(1, odd_rounds(20000000)) % 2 == 0 ? "even\n" : "odd\n");
	syscall(SYS_exit, 12);
	return 0;
}

enum { HAS_SIGRETURN = 1, BY_CALL = 2, BY_OLD_CALL = 4 };

/* Lets nothing but write, exit_group and perhaps sigreturn be called; all else kills. */
static int filter(int how)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			(how & HAS_SIGRETURN) != 0 ? SYS_rt_sigreturn : SYS_write, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
	odd_work(1, odd_rounds(10000000));
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	long result;
	if ((how & BY_CALL) != 0)
		result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	else if ((how & BY_OLD_CALL) != 0)
		result = syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	else
		result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	if (result != 0)
		say("refused\n");
	say(odd_work(1, odd_rounds(20000000)) % 2 == 0 ? "even\n" : "odd\n");
	_exit(13);
}

static int filtered(void)
{
	return filter(0);
}

static int filtered_by_call(void)
{
	return filter(BY_CALL);
}

static int filtered_by_old_call(void)
{
	return filter(BY_OLD_CALL);
}

/* What the end of a program and of a child need none of is refused, too. */
static int filtered_end(void)
{
	static const unsigned refused[] = {
		SYS_clock_gettime, SYS_sigaltstack, SYS_rt_sigaction, SYS_openat, SYS_rt_sigreturn};
	struct sock_filter rules[3 + 2 * 5];
	struct sock_fprog program = {0, rules};
	rules[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < 5; i++) {
		rules[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
		rules[program.len++] = (struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	rules[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	odd_work(1, odd_rounds(10000000));
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	ODD_CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	pid_t child = fork();
	odd_work(1, odd_rounds(10000000));
	if (child == 0)
		return 15;
	odd_wait(child, "child");
	return 16;
}

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static volatile char selector;

static void allow_calls(int signal)
{
	(void)signal;
	selector = 0;
}

/* As Wine has it for programs with system calls of a different kernel. */
static int dispatched(void)
{
	odd_work(1, odd_rounds(10000000));
	odd_handle(SIGSYS, allow_calls, 0);
	int result = prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector);
	selector = 1;
	odd_work(1, odd_rounds(20000000));
	selector = 0;
	printf("%d\n", result);
	return 17;
}

/* rdtsc faults: so does clock_gettime(). */
static int clock_refused(void)
{
	odd_work(1, odd_rounds(10000000));
	int result = prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	odd_work(1, odd_rounds(20000000));
	pid_t child = fork();
	if (child == 0)
		return (int)(odd_work(1, odd_rounds(10000000)) & 0x7f);
	odd_wait(child, "child");
	printf("%d\n", result);
	return 18;
}

static int filtered_but_return(void)
{
	return filter(HAS_SIGRETURN);
}

/* Under a filter that lets no handler return, another program: its own start, with a library. */
static int filtered_exec(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
	odd_work(1, odd_rounds(10000000));
	if (odd_stage == NULL) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		ODD_CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
		odd_execute("limit-seccomp-exec", "second");
	}
	printf("%d\n", (int)(odd_work(2, odd_rounds(30000000)) & 0xff));
	return 14;
}

static int filter_kills(void)
{
	pid_t child = fork();
	if (child == 0) {
		struct sock_filter rules[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
		odd_work(1, odd_rounds(20000000));
		getppid();
		_exit(0);
	}
	odd_wait(child, "child");
	return 0;
}

static int file_size(void)
{
	struct rlimit limit = {10000, 10000};
	char block[4096] = "";
	int fd = memfd_create("odd", MFD_CLOEXEC);
	setrlimit(RLIMIT_FSIZE, &limit);
	odd_work(1, odd_rounds(20000000));
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 4; i++)
		printf("%zd\n", write(fd, block, sizeof block));
	signal(SIGXFSZ, SIG_DFL);
	odd_work(1, odd_rounds(20000000));
	return (int)write(fd, block, sizeof block);
}

static int address_space(void)
{
	struct rlimit limit = {0, 0};
	long n_refused = 0;
	limit.rlim_cur = limit.rlim_max = 64 << 20;
	setrlimit(RLIMIT_AS, &limit);
	for (long i = 0; i < odd_rounds(20000); i++) {
		char *block = malloc(100000);
		char *volatile large = malloc(200 << 20);
		memset(block, 1, 100000);
		n_refused += large == NULL;
		free(block);
		free(large);
	}
	printf("%ld\n", n_refused);
	pid_t child = fork();
	if (child == 0)
		_exit((int)(odd_work(1, odd_rounds(10000000)) & 0x7f));
	odd_wait(child, "child");
	return 0;
}

static int open_files(void)
{
	struct rlimit limit = {20, 20};
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int round = 0; round < 3; round++) {
		int n = 0, last = -1;
		for (int fd; (fd = dup(0)) >= 0; n++)
			last = fd;
		printf("%d descriptors, last %d, %s\n", n, last, strerror(errno));
		odd_work(1, odd_rounds(10000000));
		pid_t child = fork();
		if (child == 0)
			_exit((int)(odd_work(1, odd_rounds(5000000)) & 0x7f));
		odd_wait(child, "child");
		for (int fd = 3; fd < 20; fd++)
			close(fd);
	}
	return 0;
}

static int pending_signals(void)
{
	struct rlimit limit = {0, 0};
	union sigval value = {0};
	setrlimit(RLIMIT_SIGPENDING, &limit);
	printf("%d\n", sigqueue(getpid(), SIGRTMIN, value));
	printf("%d\n", (int)(odd_work(1, odd_rounds(25000000)) & 0xff));
	return 0;
}

static int small_stack_limit(void)
{
	struct rlimit limit = {256 << 10, 256 << 10};
	setrlimit(RLIMIT_STACK, &limit);
	if (odd_stage == NULL)
		odd_execute("limit-stack", "second");
	volatile char *all = __builtin_alloca(150 << 10);
	uint64_t sum = 0;
	for (long i = 0; i < odd_rounds(3000); i++) {
		for (int j = 0; j < 150 << 10; j += 64)
			all[j] = (char)i;
		sum = odd_work(sum + (uint64_t)all[i], 10000);
	}
	printf("%d\n", (int)(sum & 0xff));
	return 0;
}

static int locked_memory(void)
{
	struct rlimit limit = {0, 0};
	setrlimit(RLIMIT_MEMLOCK, &limit);
	setrlimit(RLIMIT_NPROC, &limit);
	printf("%d\n", (int)(odd_work(1, odd_rounds(25000000)) & 0xff));
	return 0;
}

/* All descriptors are closed, and new ones have the numbers that they always had. */
static int closed_descriptors(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	printf("%d\n", open("/dev/null", O_RDONLY));
	printf("%d\n", (int)(odd_work(1, odd_rounds(20000000)) & 0xff));
	closefrom(3);
	printf("%d\n", open("/dev/null", O_RDONLY));
	printf("%d\n", dup(0));
	printf("%d\n", (int)(odd_work(2, odd_rounds(20000000)) & 0xff));
	syscall(SYS_close_range, 3, ~0U, 0);
	pid_t child = fork();
	if (child == 0) {
		odd_work(1, odd_rounds(10000000));
		_exit(open("/dev/null", O_RDONLY));
	}
	odd_wait(child, "child");
	return 0;
}

/* Output that is closed early, and input that is at its end. */
static int closed_output(void)
{
	int output = dup(1);
	close(0);
	close(1);
	close(2);
	uint64_t sum = odd_work(1, odd_rounds(25000000));
	dprintf(output, "%d, next %d\n", (int)(sum & 0xff), dup(output));
	return 3;
}

/* Its own breaks follow each other, whatever others allocate. */
static int breaks(void)
{
	char *last = sbrk(0);
	for (long i = 0; i < odd_rounds(20000); i++) {
		char *block = sbrk(64);
		ODD_CHECK(block == last);
		block[0] = block[63] = (char)i;
		last = block + 64;
		odd_work(1, 1000);
	}
	ODD_CHECK(sbrk(0) == last);
	printf("one after the other\n");
	return 0;
}

static int locked_all(void)
{
	int result = mlockall(MCL_CURRENT | MCL_FUTURE);
	printf("%d %d\n", result, (int)(odd_work(1, odd_rounds(25000000)) & 0xff));
	return 0;
}

const OddKind odd_limits[] = {
	{"limit-seccomp-strict", strict},
	{"limit-seccomp-filter", filtered},
	{"limit-seccomp-by-call", filtered_by_call},
	{"limit-seccomp-by-old-call", filtered_by_old_call},
	{"limit-seccomp-end", filtered_end},
	{"limit-dispatch", dispatched},
	{"limit-clock", clock_refused},
	{"limit-seccomp-sigreturn", filtered_but_return},
	{"limit-seccomp-exec", filtered_exec, "none"},
	{"limit-seccomp-kills", filter_kills, "none"},
	{"limit-file-size", file_size},
	{"limit-address-space", address_space},
	{"limit-open-files", open_files},
	{"limit-pending", pending_signals},
	{"limit-stack", small_stack_limit},
	{"limit-locked", locked_memory},
	{"limit-closed", closed_descriptors},
	{"limit-closed-output", closed_output},
	{"limit-breaks", breaks},
	{"limit-mlockall", locked_all},
	{0},
};
