#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Rejects an include that goes against the way of the data: by src/layers.txt a module may include
# only itself and modules on lines above it, except those of a line "FOLDER without FOLDER ...",
# and also those below it of a line "MODULE with MODULE ...", which has to be of use.
# Also rejects an include that is not written from src/, a file that belongs to no module, and the
# include of a header that says "Private to FOLDER/" (as seen from src/) in a file outside that
# folder, and a folder of more than 25 files, which wants shelves.
#
#   scripts/check_layers.sh [SRC]      SRC is src/ unless given
set -euo pipefail

root=${1:-"$(dirname "${BASH_SOURCE[0]}")/../src"}
cd "$root"

# shellcheck disable=SC2016 # the dollars are awk's
find . -name '*.[ch]' -printf '%P\n' | LC_ALL=C sort | xargs awk '
	# The module of a path: the longest one that is a folder above it; "" for none.
	function module_of(path,    best, name) {
		best = ""
		for (name in layer)
			if (index(path, name "/") == 1 && length(name) > length(best))
				best = name
		return best
	}
	function complain(text) {
		printf "src/%s:%d: %s\n", FILENAME, FNR, text
		bad = 1
	}
	BEGIN {
		while ((getline line < "layers.txt") > 0) {
			if (line ~ /^#/ || line ~ /^[ \t]*$/)
				continue
			n = split(line, names, " ")
			if (names[2] == "without") {
				for (i = 3; i <= n; i++)
					without[names[1] "/", names[i] "/"]
				continue
			}
			if (names[2] == "with") {
				for (i = 3; i <= n; i++)
					with[names[1], names[i]]
				continue
			}
			depth++
			for (i = 1; i <= n; i++)
				layer[names[i]] = depth
		}
		if (depth == 0) {
			print "src/layers.txt: no layers" > "/dev/stderr"
			bad = 1
			exit
		}
	}
	FNR == 1 {
		folder = FILENAME
		sub(/[^\/]*$/, "", folder)
		n_files[folder]++
		here = module_of(FILENAME)
		if (here == "")
			complain("this file is in no module of src/layers.txt")
	}
	FILENAME ~ /\.h$/ && match($0, /Private( to)?$|Private to /) {
		folder = substr($0, RSTART + 11)
		sub(/[ ,;:].*/, "", folder)
		sub(/\.$/, "", folder)
		if (folder !~ /\/$/ || system("test -d " folder) != 0)
			complain("\"Private to\" does not name a folder of src/, like \"store/\"")
		else
			owner[FILENAME] = folder
	}
	here != "" && /^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, parts, "\"")
		there = module_of(parts[2])
		if (there == "") {
			# What the build makes (a query as text, say) has no folder.
			if (parts[2] ~ /\//)
				complain("\"" parts[2] "\" is in no module of src/layers.txt")
			else if ((getline line < parts[2]) < 0 && \
				 system("test -e \"$(dirname " FILENAME ")/" parts[2] "\"") == 0)
				complain("\"" parts[2] "\" is not written from src/")
		} else if ((here, there) in with)
			used[here, there]
		else if (there != here && layer[there] >= layer[here])
			complain("\"" parts[2] "\": " here " may not include " there)
		for (pair in without) {
			split(pair, folders, SUBSEP)
			if (index(FILENAME, folders[1]) == 1 && index(parts[2], folders[2]) == 1)
				complain("\"" parts[2] "\": " folders[1] " does without " folders[2])
		}
	}
	/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, parts, "\"")
		included[++n_includes] = parts[2]
		place[n_includes] = FILENAME
		line_of[n_includes] = FNR
	}
	END {
		for (i = 1; i <= n_includes; i++) {
			folder = owner[included[i]]
			if (folder != "" && index(place[i], folder) != 1) {
				printf "src/%s:%d: \"%s\" is private to %s\n",
					place[i], line_of[i], included[i], folder
				bad = 1
			}
		}
		for (pair in with) {
			split(pair, folders, SUBSEP)
			if (!(pair in used) || layer[folders[2]] <= layer[folders[1]]) {
				printf "src/layers.txt: %s does without leave to include %s\n",
					folders[1], folders[2]
				bad = 1
			}
		}
		for (folder in n_files) {
			if (n_files[folder] > 25) {
				printf "src/%s has %d files, more than 25\n", folder, n_files[folder]
				bad = 1
			}
		}
		exit bad
	}
'
