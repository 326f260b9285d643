#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Functions and lines of programs in Perl and Ruby that measure their own time. Prints TAP; skips
# where the kernel lets nobody sample, and where there is no Perl 5.36 with threads or no Ruby 3.1.
#
#   tests/e2e/scripts.sh LODE SOURCES LANGUAGE      SOURCES: the folder of scripts/
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

sources=$(realpath "$2")/scripts
language=$3
begin "$1"
export HOME=$work

needs python3
needs_sampling
case $language in
perl)
	perl -V:useithreads -e 'exit($] !~ /^5\.036/)' 2>err | grep -q define || skip "no Perl 5.36 with threads"
	program=known_lines.pl
	kinds=(block branch closure comparison filter module recursion)
	line='known_lines.pl:[0-9]+ in main::recursion'
	function=main::by_square
	# shellcheck disable=SC2016
	one=(perl -e 'sub work { my $n = 0; $n += $_ ** 2 for 1 .. 100000; $n } work() for 1 .. 150')
	one_line='-e:1 in main::work'
	;;
ruby)
	needs ruby
	[ "$(ruby -e 'print RUBY_ENGINE, RUBY_VERSION[/^\d+\.\d+/]' 2>err)" = ruby3.1 ] || skip "no Ruby 3.1"
	program=known_lines.rb
	kinds=(each module recursion sorting thread)
	line='known_lines.rb:[0-9]+ in Kinds#recursion'
	function='Kinds#sorting'
	one=(ruby -e 'def work = (1..100_000).sum { |n| n * n % 7 }; 80.times { work }')
	one_line='-e:1 in '
	;;
esac
KNOWN_SECONDS=0.6
export KNOWN_SECONDS

echo 1..5

# By its first line, which names the interpreter.
"$lode" run -o app.lode -- "$sources/$program" truth "${kinds[@]}" >out 2>err
status=$?
"$lode" report app.lode --functions --format json >functions.json 2>>err
"$lode" report app.lode --lines --format json >lines.json 2>>err
check "shares" "$(status_is 0)" \
	"$(python3 "$sources/known_lines_check.py" "$language" truth functions.json lines.json 0.15 2>&1)"

"$lode" run -o deep.lode -- "$sources/$program" truth recursion >out 2>err
status=$?
check "the first screen" "$(status_is 0)" "$(holds grep -qE "^ *[0-9.]+ %  $line" err)"

"$lode" report app.lode --callers "$function" >out 2>err
status=$?
check "callers" "$(status_is 0)" "$(holds grep -q "$program" out)"

"$lode" run -o one.lode -- "${one[@]}" >out 2>err
status=$?
check "a program of one line" "$(status_is 0)" "$(holds grep -qe "$one_line" err)"

"$lode" run --native -o native.lode -- "$sources/$program" truth "${kinds[@]}" >out 2>err
"$lode" report native.lode --functions --format json >functions.json 2>>err
status=$?
check "without the script" "$(status_is 0)" "$(grep -q "$function" functions.json && echo "$function is there")"
