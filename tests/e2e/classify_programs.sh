#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tests `lode classify` on sampled programs of Debian: one alone, two together, whose true shares are
# those of the samples of their processes, and one that no signature has. Prints TAP; skips without
# them.
#
#   tests/e2e/classify_programs.sh LODE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/e2e/cases.sh
. "$here/cases.sh"

begin "$1"
needs gzip perl mawk bzip2 sqlite3 python3

# Words of which few are equal, from a seed: gzip, perl and mawk have work with them.
words() {
	awk -v seed="$1" 'BEGIN { srand(seed); for (i = 0; i < 30000; i++) {
		w = ""; for (k = 0; k < 3 + rand() * 8; k++) w = w substr("etaoinshrdlu", 1 + rand() * 12, 1)
		printf "%s%s", w, rand() < 0.1 ? "\n" : " " } }' >"words.$1"
}
# Rounds of a program on input N, so that a busy machine makes it last longer, not do less.
cat >work <<'END'
#!/usr/bin/env bash
# work PROGRAM N ROUNDS
for ((i = 0; i < $3; i++)); do
	case $1 in
	gzip) gzip -9 -c "words.$2" ;;
	bzip2) bzip2 -9 -c "words.$2" ;;
	perl) perl -ne 'for (split) { $n{lc $_}++; $s += length } END { print scalar(keys %n), $s }' "words.$2" ;;
	mawk) mawk '{ for (i = 1; i <= NF; i++) { n[toupper($i)]++; c += length($i) } } END { for (w in n) m += n[w]; print m, c }' "words.$2" ;;
	esac
done >/dev/null
END
chmod +x work
# record NAME COMMAND: into NAME.lode; at least 150 samples, or the machine does not sample.
record() {
	"$lode" record -o "$1.data" -- bash -c "$2" >out 2>err && "$lode" import "$1.data" -o "$1.lode" >out 2>err &&
		[ "$(sqlite3 "$1.lode" 'SELECT count(*) > 150 FROM stack_sample')" = 1 ]
}
classify() {
	"$lode" classify "$1.lode" --signatures known --format json >x.json 2>err
	status=$?
	# Of running, not of waiting.
	sqlite3 "$1.lode" "WITH ran AS (SELECT s.* FROM stack_sample s JOIN event e ON e.id = s.event
			WHERE e.name GLOB 'cpu-clock*')
		SELECT t.name, sum(s.weight) / (SELECT sum(weight) FROM ran)
		FROM ran s JOIN stack_thread t ON t.id = s.thread GROUP BY t.name" >truth
}
# field EXPRESSION: of x.json, with `d` the document; held(NAME): whether the stated interval, and two
# percent for what the shell takes, holds the share of the samples in processes of that name.
field() {
	python3 - "$1" <<'PYTHON'
import json, sys
d = json.load(open("x.json"))
truth = {line.rsplit("|", 1)[0]: float(line.rsplit("|", 1)[1]) for line in open("truth")}
match = lambda name: next(m for m in d["signatures"] if m["signature"] == name)
held = lambda name: abs(match(name)["share"] - truth[name]) <= match(name)["share_error"] + 0.02
print(eval(sys.argv[1]))
PYTHON
}
is() { [ "$(field "$1")" = "$2" ] || echo "$1 is $(field "$1"), not $2"; }

for n in 1 2 3 4; do words $n; done
mkdir known
for program in gzip perl mawk; do
	for n in 1 2; do record "$program.$n" "./work $program $n 24" || skip "sampling is not allowed here"; done
	"$lode" signature "$program.1.lode" "$program.2.lode" --name "$program" -o "known/$program.sig" 2>err ||
		skip "no signature: $(tail -n 1 err)"
done
record_all() {
	record one './work perl 3 24' &&
		record together './work gzip 3 24 & ./work mawk 3 24; wait' &&
		record turns './work perl 4 12; ./work gzip 4 30' &&
		record stranger './work bzip2 3 24' &&
		record half './work perl 4 24; ./work bzip2 4 18'
}
record_all || skip "sampling is not allowed here"
echo 1..5

classify one
check "a program alone is named" "$(status_is 0)" "$(is 'd["workload"]' perl)"
classify together
check "two at once, in shares that hold" "$(is 'd["verdict"]' mixture)" "$(is 'held("gzip")' True)" \
	"$(is 'held("mawk")' True)" "$(is 'match("gzip")["share_error"] < 0.25' True)"
classify turns
check "two in turn, in shares that hold" "$(is 'd["verdict"]' mixture)" "$(is 'held("gzip")' True)" \
	"$(is 'held("perl")' True)"
classify stranger
check "a program that no signature has" "$(is 'd["verdict"]' none)"
classify half
check "a known program and one that is not" "$(is 'd["verdict"]' mixture)" \
	"$(is '[m["signature"] for m in d["signatures"] if m["share"] > 0]' "['perl']")" \
	"$(is 'abs(d["rest_share"] - truth["bzip2"]) <= d["rest_error"] + 0.02' True)"
