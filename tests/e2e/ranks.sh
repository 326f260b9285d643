#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `lode mine` shared by the ranks that mpirun starts: the profile afterwards has what one process
# stores in it, and it has nothing new where a rank was killed. Prints TAP; skips without mpirun.
#
#   tests/e2e/ranks.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
needs mpirun sqlite3 qemu-x86_64
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Sessions of Open MPI are folders with sockets, whose names are short.
export OMPI_MCA_orte_tmpdir_base=/tmp OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none

seq 500 >numbers
"$lode" run --exact --fast -o whole.lode -- sort -r numbers >out 2>err || skip "$(tail -n 1 err)"
cp whole.lode tried.lode
mpirun -n 2 true 2>err || skip "mpirun starts nothing here: $(tail -n 1 err)"

# Without MPI the first process does the work, and the others say nothing.
if ! "$lode" --version | grep -q '^MPI: yes$'; then
	echo 1..2
	mpirun -n 3 "$lode" mine tried.lode --min-support 30% >out 2>err
	status=$?
	check "without MPI, one process mines" "$(status_is 0)" \
		"$([ "$(grep -c 'sequences in' out)" = 1 ] || cat out)" \
		"$([ "$(grep -c 'this build has no MPI' err)" = 1 ] || cat err)"
	mpirun -n 1 "$lode" mine tried.lode --mpi --min-support 30% >out 2>err
	status=$?
	check "but not when it shall be shared" "$([ "$status" -ne 0 ] || echo "status 0")" \
		"$(grep -q 'has no MPI, so its processes' err || cat err)"
	exit
fi
mpirun -n 2 "$lode" mine tried.lode --min-support 30% >out 2>err || skip "$(tail -n 1 err)"

# shared RANKS PROFILE OPTION…
shared() {
	local ranks=$1 profile=$2
	shift 2
	cp whole.lode "$profile"
	mpirun -n "$ranks" "$lode" mine "$profile" "$@" >out 2>err
}

# compare NAME RANKS OPTION…: a case
compare() {
	local name=$1 ranks=$2
	shift 2
	cp whole.lode one.lode
	"$lode" mine one.lode "$@" >out 2>err || echo "# one process fails: $(cat err)"
	shared "$ranks" many.lode "$@"
	status=$?
	for profile in one many; do
		cp $profile.lode x.lode
		"$lode" report x.lode --all --format json >$profile.json 2>>err
		sqlite3 x.lode "update run set seconds = 0" 2>>err
		sqlite3 x.lode .dump >$profile.sql
	done
	check "$name" "$(status_is 0)" "$(cmp one.json many.json 2>&1)" \
		"$(cmp one.sql many.sql 2>&1)" \
		"$([ "$(grep -c '"sequence"' one.json)" -gt 5 ] || echo "few sequences")"
}

echo 1..11

compare "one rank" 1 --min-support 2%
compare "two ranks" 2 --min-support 2%
check "what was exchanged is said" "$(grep -q '^2 ranks: .* in [0-9]* sums; they computed ' out || cat out)"
compare "four ranks, gaps and windows" 4 --min-support 10% --gap 1 --window 1 --iterations 4
compare "three ranks, the best of them, closed" 3 --top 50 --closed --name best

# A graph with so many paths that a rank is surely killed while it looks at them.
{
	echo "lode-flow 1"
	echo "event cycles"
	for graph in 1 2; do
		echo "graph g$graph"
		for v in $(seq 400); do echo "v $graph.$v 1 1 op:a kind:b mem:c"; done
		for v in $(seq 396); do
			for w in 1 2 3 4; do echo "e $graph.$v $graph.$((v + w)) 1"; done
		done
	done
} >many.flow
"$lode" import many.flow -o many.lode >out 2>err || echo "# $(cat err)"
before=$(sha256sum <many.lode)
mpirun -n 2 "$lode" mine many.lode --iterations 12 --gap 3 --min-support 0 >out 2>err &
starter=$!
victim=
for _ in $(seq 600); do
	for process in $(pgrep -P "$starter"); do
		tr '\0' '\n' <"/proc/$process/environ" 2>>/dev/null |
			grep -q '^OMPI_COMM_WORLD_RANK=1$' && victim=$process
	done
	# Once it computes.
	[ -n "$victim" ] && grep -q libmpi "/proc/$victim/maps" 2>>/dev/null && break
	sleep 0.1
done
sleep 0.5
[ -n "$victim" ] && kill -KILL "$victim"
wait "$starter"
status=$?
check "a killed rank ends the job" "$([ "$status" -ne 0 ] || echo "status 0")" \
	"$(grep -q 'rank 1 .*signal 9' err || echo "no word on rank 1")" \
	"$([ "$before" = "$(sha256sum <many.lode)" ] || echo "the profile is another")" \
	"$([ ! -e many.lode-journal ] && [ ! -e many.lode-wal ] || echo "a journal is left")"

mpirun -n 2 "$lode" mine none.lode >out 2>err
status=$?
check "an error is said once" "$([ "$status" -ne 0 ] || echo "status 0")" \
	"$([ "$(grep -c 'none.lode' err)" -eq 1 ] || echo "not once")"

cp whole.lode own.lode
mpirun -n 1 "$lode" mine own.lode --name more : -n 1 "$lode" mine other.lode --name more \
	>out 2>err
status=$?
check "a rank that fails is named" "$([ "$status" -ne 0 ] || echo "status 0")" \
	"$(grep -q 'rank 1 of 2: .*other.lode' err || echo "not named")" \
	"$([ "$(sqlite3 own.lode 'select count(*) from run')" = 1 ] || echo "a run is stored")"

mpirun -n 3 "$lode" mine own.lode --gap much >out 2>err
check "wrong usage is said once" "$([ "$(grep -c '^lode mine: ' err)" = 1 ] || cat err)" \
	"$([ "$(grep -c '^Try ' err)" = 1 ] || cat err)"

for i in 0 1; do cp whole.lode "$i.lode"; done
# shellcheck disable=SC2016
mpirun -n 2 sh -c '"$0" mine --no-mpi $OMPI_COMM_WORLD_RANK.lode --name own' "$lode" >out 2>err
status=$?
check "each process may mine a profile of its own" "$(status_is 0)" \
	"$([ "$(grep -c 'sequences in' out)" = 2 ] || cat out)" \
	"$([ "$(sqlite3 1.lode "select count(*) from run where name = 'own'")" = 1 ] || echo "none in 1.lode")"

mpirun -n 1 "$lode" mine own.lode --instructions --min-count 10 --name opcodes >out 2>err
status=$?
check "one process is not several" "$(status_is 0)" "$(grep -q 'ranks' out && cat out)"
