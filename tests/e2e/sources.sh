#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Which source files `lode annotate` and the page show: neither a profile nor a program can have
# other files shown by naming them. Prints TAP; skips without qemu.
#
#   tests/e2e/sources.sh LODE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

begin "$1"
needs qemu-x86_64 cc sqlite3
work=$(realpath "$work")
cd "$work" || exit 1
mkdir -p tree/src tree/build tree/.hidden private home
export HOME=$work/home

# What is not to be shown.
secret() { printf 'PRIVATE-%s\n' 1 2 3 4 5 6 7 8 9 >"$1"; }
# program LINE: a function `work` that begins with this line
program() {
	printf '%s\n' "$1" '__attribute__((noinline)) unsigned work(unsigned s)' '{' \
		'for (unsigned i = 0; i < 100000; i++)' 's = s * 31 + i; /* THE LINE */' 'return s;' '}' \
		'int main(void)' '{' 'volatile unsigned s = work(3);' 'return s == 1;' '}'
}
# compile FOLDER SOURCE PROGRAM: as in that folder
compile() { (cd "$1" && cc -O1 -g -Wl,--build-id -o "$3" "$2" 2>"$work/err"); }
record() {
	rm -f x.lode
	"$lode" run --exact --fast -o x.lode -- "./$1" >out 2>err
	status=$?
}
# show OPTION…: as text into ./text, and as a page into ./page.html; what lode says into ./err
show() {
	"$lode" annotate x.lode function work "$@" >text 2>err
	"$lode" report x.lode --html page.html "$@" >/dev/null 2>>err || echo "report --html fails" >>err
}
has() {
	grep -q "$1" text || echo "no '$1' in the text"
	$no_page || grep -q "${1##*  }" page.html || echo "no '$1' in the page"
}
has_not() { ! grep -qs "$1" text page.html || echo "shows '$1'"; }
says() {
	grep -qF -- "$1" text || echo "the text does not say '$1'"
	$no_page || grep -qF -- "$1" err || echo "the report does not say '$1'"
}
no_page=false
"$lode" report none.lode --html none.html 2>&1 | grep -q 'built without' && no_page=true

program '' >tree/src/a.c
compile tree/src a.c "$work/inside" || skip "cc does not compile: $(head -n 1 err)"
record inside
[ "$status" -eq 0 ] || skip "the program is not recorded: $(head -n 1 err)"
show
check "source below the folder where it was compiled" "$(has 'THE LINE')" \
	"$($no_page || grep -qF "page.html has lines of 1 source file in $work/tree/src" err || echo "does not say which")" \
	"$($no_page || grep -qF "\"sources\":[\"$work/tree/src/a.c\"]" page.html || echo "the page does not list it")"

cp x.lode renamed.lode
secret tree/src/other.c
sqlite3 x.lode "UPDATE string SET text = '$work/tree/src/other.c' WHERE text LIKE '%/a.c'"
show
check "a file that the profile names, and the program does not" "$(has_not PRIVATE)" \
	"$(says 'no program on this machine with the recorded build-id names')"

cp renamed.lode x.lode
mv inside gone
show
check "source of a program that is gone" "$(has_not 'THE LINE')"
program '/* built anew */' >tree/src/b.c
compile tree/src b.c "$work/inside"
show
check "source of a program that was built anew" "$(has_not 'THE LINE')"

mv tree/src/a.c private/a.c
ln -s "$work/private/a.c" tree/src/a.c
mv gone inside
show
check "a link that leads out of the folder" "$(has_not 'THE LINE')" "$(says "--source $work/private shows it")"
show --source private
check "the folder that it leads to is named" "$(has 'THE LINE')"
rm tree/src/a.c

program '' >tree/src/c.c
compile tree/build ../src/c.c "$work/beside"
record beside
rm page.html
(cd home && "$lode" annotate ../x.lode function work) >text 2>err
check "beside the folder where it was compiled, from anywhere" "$(has_not 'THE LINE')" \
	"$(grep -qF -- "--source $work/tree/src shows it" text || echo "does not say how")"
show --source tree
check "beside it, and named" "$(has 'THE LINE')"

# names WHAT FILE SAYS OPTION…: a program that names this file
names() {
	local what=$1 file=$2 says=$3
	shift 3
	secret "$file"
	program "#line 1 \"$file\"" >tree/src/d.c
	compile tree/src d.c "$work/naming"
	record naming
	show "$@"
	check "$what" "$(has_not PRIVATE)" "$(says "$says")"
	rm "$file"
}
names "a program that names a file elsewhere" "$work/private/x.c" "outside the folder"
names "a file that is not source by its name" "$work/tree/src/secret.key" "has not the name of a source file"
names "nor in a named folder" "$work/private/secret.key" "has not the name of a source file" --source private
mkdir tree/src/.git
names "a file in a hidden folder" "$work/tree/src/.git/x.c" "in a hidden folder"

program '' >tree/src/m.c
compile tree/src m.c "$work/moved"
record moved
mkdir -p private/tree/src
mv tree/src/m.c private/tree/src/m.c
show
check "source that is no longer there" "$(has_not 'THE LINE')" "$(says 'm.c, which is not there; --source DIR')"
show --source private
check "below the folder that it was moved to" "$(has 'THE LINE')"
mv private/tree/src/m.c tree/src/m.c
touch -d '1 hour' tree/src/m.c
show
check "source that is newer than the program" "$(has 'THE LINE')" "$(says 'm.c, which is newer than the program')"
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 tree/src/m.c
	show
	check "root sees what belongs to another user" "$(has 'THE LINE')"
fi
rm -r private/tree

program "#line 1 \"$work/private/x.c\"" >tree/src/d.c
secret private/x.c
compile / "$work/tree/src/d.c" "$work/wide"
record wide
show
check "compiled in the folder that holds all" "$(has_not PRIVATE)" "$(says 'outside the folder')"
cp tree/src/d.c home/d.c
sed -i "s|$work/private/x.c|$work/home/below/x.c|" home/d.c
mkdir home/below
secret home/below/x.c
compile home d.c "$work/wide"
record wide
show
check "compiled in the home folder: what is below it" "$(has_not PRIVATE)"

header=/usr/include/stdio.h
number_there=$(grep -n '^extern' "$header" 2>/dev/null | head -n 1 | cut -d : -f 1)
if [ -n "$number_there" ]; then
	program "#line $((number_there - 3)) \"$header\"" >tree/src/e.c
	compile tree/src e.c "$work/header"
	record header
	show
	check "the toolchain's headers" "$(has "stdio.h:$number_there  extern")"
fi
echo "1..$number"
