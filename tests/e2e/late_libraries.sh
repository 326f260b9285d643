#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Libraries that few verbs need are not loaded by the others, which start as quickly as without
# them; where one is missing, only what needs it fails, and says so. Prints TAP.
#
#   tests/e2e/late_libraries.sh LODE TRACE
set -uo pipefail
# shellcheck source=tests/e2e/cases.sh
. "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

trace=$(realpath "$2")
begin "$1"
needs ldd

# A broken library is found before the system's, and is as good as none.
mkdir broken
for library in libcairo.so.2 libmicrohttpd.so.12 libpfm.so.4; do
	echo "no library" >broken/$library
done

# broken OPTION…: lode, where these libraries are missing.
broken() {
	LD_LIBRARY_PATH=$work/broken timeout 60 "$lode" "$@" >out 2>err
	status=$?
}
says() { grep -q "$1" err || echo "does not say: $1"; }

echo 1..6

check "the libraries of plots, of the server and of events are not linked" \
	"$(ldd "$lode" | grep -E 'cairo|X11|fontconfig|microhttpd|gnutls|pfm')"

broken trace info "$trace"
check "a verb that needs none of them" "$(status_is 0)" "$(grep '' err)"

echo old >x.svg
broken trace simulate "$trace" --plot-curve x.svg
check "a plot" "$(status_is 1)" "$(says '^lode trace simulate: .*cannot draw: .*libcairo.so.2')" \
	"$([ "$(cat x.svg)" = old ] || echo "the file that was there is gone")"

broken serve "$trace"
check "the server" "$(status_is 1)" "$(says '^lode serve: .*libmicrohttpd.so.12')"

broken record -o x.data -e uops_issued.any -- true
check "the name of a processor's event" "$(status_is 1)" "$(says '^lode record: .*libpfm.so.4')" \
	"$([ ! -e x.data ] || echo "there is a recording")"

# Whether events may be opened is the machine's to say.
for events in "" "-e cycles,cpu-clock,page-faults"; do
	# shellcheck disable=SC2086
	broken record -o x.data $events -- true
	grep 'libpfm' err
done >named
check "events that the kernel itself knows" "$(cat named)"
