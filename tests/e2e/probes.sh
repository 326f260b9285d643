#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# By default a program is asked from outside: it finds nothing of lode's in itself, its waits do not
# end early, and the ways of its branches are known. Prints TAP; skips where sampling is not allowed.
#
#   tests/e2e/probes.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
needs gcc sqlite3 python3
cat >program.c <<'END_OF_C'
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile long sink;

/* Three of ten go the first way, at random. */
__attribute__((noinline)) long choose(long n)
{
	uint64_t x = 88172645463325252u;
	long sum = 0;
	for (long i = 0; i < n; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		if ((x & 1023) < 307)
			sink = sum += x >> 60;
		else
			sink = sum -= 3;
	}
	return sum;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void print(const char *path, const char *what)
{
	char line[4096];
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if ((!strncmp(line, "Sig", 3) && line[3] != 'Q') || strcmp(what, "status"))
			printf("%s", strcmp(what, "maps") ? line : strchr(line, '/') ? strchr(line, '/') : "");
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	int interrupted = 0, epoll = epoll_create1(0);
	struct epoll_event event;
	sigset_t user;
	(void)argc;
	sigemptyset(&user);
	sigaddset(&user, SIGUSR1);
	while (now() < atof(argv[1])) {
		choose(100000);
		const struct timespec time = {.tv_nsec = 100000};
		interrupted += epoll_wait(epoll, &event, 1, 1) < 0 && errno == EINTR;
		interrupted += sigtimedwait(&user, NULL, &time) < 0 && errno == EINTR;
	}
	for (char **at = environ; *at; at++)
		puts(*at);
	print("/proc/self/status", "status");
	print("/proc/self/maps", "maps");
	printf("%d interrupted\n", interrupted);
	return 3;
}
END_OF_C
gcc -O1 -fno-if-conversion -fno-if-conversion2 -o program program.c || exit 1
./program 0.1 | grep -v '^_=' >plain
"$lode" run -o x.lode --report report -- ./program 1 >out 2>err
status=$?
[ -e x.lode ] || skip "sampling is not allowed here"
check "environment, signals and mapped files are the program's" "$(status_is 3)" \
	"$(grep -v '^_=' out | diff plain - | head -8)"
check "waits do not end early" "$(holds grep -q '^0 interrupted$' out)"

# way PROFILE: the share of the branch in choose() that goes both ways, the rarer one.
way() {
	sqlite3 "$1" "SELECT round(min(e.count, i.count - e.count) / i.count, 3) FROM all_edge e
		JOIN instruction i ON i.id = e.source JOIN function f ON f.id = i.function
		JOIN instruction_attribute a ON a.instruction = i.id AND a.name = 'kind:branch'
		WHERE f.name = 'choose' AND e.kind = 'taken' AND e.count BETWEEN 0.02 * i.count AND 0.98 * i.count"
}
is_near() { python3 -c "import sys; v = [float(x) for x in sys.argv[1].split()]
sys.exit(not (len(v) == 1 and abs(v[0] - 0.3) < 0.1))" "$1" || echo "the way is $1, not 0.3"; }
check "the ways of a branch are known" "$(is_near "$(way x.lode)")"
check "the profile says how it was asked" "$(holds grep -qE '[0-9] (window|breakpoint hit)' report)"
"$lode" run --probes off -o off.lode --report report -- ./program 1 >out 2>err
check "without probes, too, by the samples alone" "$(is_near "$(way off.lode)")" \
	"$(! grep -E '[0-9] (window|breakpoint hit)' report)"
"$lode" run --probes 200% -o off.lode -- ./program 1 >out 2>err
status=$?
check "a share beyond a half is refused" "$(status_is 2)" "$(holds grep -q "'200%' is not a share from 0 to 50%" err)"

echo "1..$number"
