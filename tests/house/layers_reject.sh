#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The layers check lets a good tree pass and names the fault of each bad one.
#
#   tests/house/layers_reject.sh CHECK_LAYERS
set -euo pipefail

check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
number=0

# A tree of three layers, one of them nested, with two files that keep to the way.
begin_tree() {
	rm -rf "${tree:?}"/*
	mkdir -p "$tree"/{low,mid/one,mid/two,high}
	printf '# comment\nlow\nmid/one mid/two\nhigh\n' >"$tree/layers.txt"
	echo '#include <stdio.h>' >"$tree/low/low.h"
	printf '#include "low/low.h"\n' >"$tree/mid/one/one.h"
	printf '#include "mid/one/one.h"\n#include "low/low.h"\n' >"$tree/high/high.c"
}

# verdict NAME STATUS [TEXT]: what the check says of the tree as it stands.
verdict() {
	local status=0 said
	number=$((number + 1))
	said=$("$check" "$tree") || status=$?
	if [ "$((status != 0))" = "$2" ] && [[ $said == *"${3:-}"* ]]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		printf '# status %s\n# %s\n' "$status" "$said"
	fi
}

echo "1..15"
begin_tree
verdict "a forward include passes" 0

begin_tree
echo '#include "high/high.h"' >>"$tree/low/low.h"
verdict "a backward include is rejected" 1 'src/low/low.h:2: "high/high.h": low may not include high'

begin_tree
echo '#include "mid/two/two.h"' >>"$tree/mid/one/one.h"
verdict "modules on one line do not include each other" 1 'mid/one may not include mid/two'

begin_tree
echo 'high without mid' >>"$tree/layers.txt"
verdict "a folder above may be barred" 1 'src/high/high.c:1: "mid/one/one.h": high/ does without mid/'

# The two of the middle as shelves of one room, the first before the second.
begin_shelves() {
	begin_tree
	sed -i 's|mid/one mid/two|mid/one\nmid/two|' "$tree/layers.txt"
	echo '#include "mid/two/two.h"' >>"$tree/mid/one/one.h"
}

begin_shelves
verdict "a backward include of shelves is rejected" 1 'src/mid/one/one.h:2: "mid/two/two.h": mid/one may not include mid/two'

begin_shelves
echo 'mid/one with mid/two' >>"$tree/layers.txt"
verdict "a backward include that is listed passes" 0

begin_shelves
printf 'mid/one with mid/two\nmid/two with high\n' >>"$tree/layers.txt"
verdict "a listed one that is not there is rejected" 1 'src/layers.txt: mid/two does without leave to include high'

begin_tree
echo '#include "nowhere/nothing.h"' >>"$tree/high/high.c"
verdict "an unknown module is rejected" 1 '"nowhere/nothing.h" is in no module'

begin_tree
echo 'int x;' >"$tree/stray.c"
verdict "a file in no module is rejected" 1 'src/stray.c:1: this file is in no module'

begin_tree
echo '#include "low.h"' >>"$tree/low/low.c"
verdict "an include that is not written from src/ is rejected" 1 'src/low/low.c:1: "low.h" is not written from src/'

# make_private FOLDER: the lowest header says that it is.
make_private() { printf '/* What is low. Private to %s */\n' "$1" >>"$tree/low/low.h"; }

begin_tree
mkdir "$tree/mid/one/inner"
echo '#include "mid/one/one.h"' >"$tree/mid/one/inner/inner.c"
sed -i '/one.h/d' "$tree/high/high.c"
echo '/* Private to mid/one/: the first. */' >>"$tree/mid/one/one.h"
verdict "a private header is included in its folder and those below" 0

begin_tree
make_private low/.
verdict "a private header is rejected elsewhere" 1 'src/high/high.c:2: "low/low.h" is private to low/'

begin_tree
make_private "the low ones."
verdict "a private header names its folder" 1 'src/low/low.h:2: "Private to" does not name a folder of src/'

begin_tree
for ((i = 2; i <= 25; i++)); do echo 'int x;' >"$tree/low/x$i.c"; done
verdict "a folder of 25 files passes" 0
echo 'int x;' >"$tree/low/y.c"
verdict "a folder of more files is rejected" 1 'src/low/ has 26 files, more than 25'
