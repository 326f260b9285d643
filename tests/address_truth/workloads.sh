# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Real programs with something to do, to be sourced: in the working directory.

# make_inputs: input.bin (code), input.txt (numbers in no order), a repository.
make_inputs() {
	cat /usr/bin/* 2>/dev/null | head -c "${input_bytes:-400000}" >input.bin || true
	awk -v n="${input_lines:-20000}" 'BEGIN {
		for (i = 0; i < n; i++) print (i * 7919) % 1000003, "line", i, (i * 31) % 97 }' >input.txt
	if command -v git >/dev/null; then
		git init -q repository
		head -c 2000000 input.txt >repository/numbers
		git -C repository add numbers
		git -C repository -c user.name=t -c user.email=t@t commit -qm first
		sort -n input.txt >repository/numbers
		git -C repository -c user.name=t -c user.email=t@t commit -qam second
	fi
}

workload_names() { echo gzip sort awk perl python3 sqlite3 git-log git-grep zstd lz4 xz; }

# shellcheck disable=SC2016 # the dollars are perl's and awk's
# workload NAME: sets `words` to its command. False: the program is not there.
workload() {
	local script
	case $1 in
	gzip) words=(gzip -c input.bin) ;;
	sort) words=(sort -n input.txt) ;;
	awk) words=(awk '{ a[$4] += $1 } END { for (k in a) print k, a[k] }' input.txt) ;;
	perl)
		script='$h{$1} += $_ if /(\d+) line/; END { print "$_ $h{$_}\n" for sort keys %h }'
		words=(perl -ne "$script" input.txt)
		;;
	python3)
		script='d = {}
for line in open("input.txt"):
    a = line.split()
    d.setdefault(a[3], []).append(int(a[0]) * 3)
print(sum(sorted(v)[0] for v in d.values()))'
		words=(/usr/bin/python3 -S -c "$script")
		;;
	sqlite3)
		script="CREATE TABLE t(a INTEGER, b TEXT); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL
			SELECT x + 1 FROM c WHERE x < ${sqlite_rows:-5000}) INSERT INTO t SELECT x, x * 7 % 101 FROM c;
			CREATE INDEX i ON t(b); SELECT b, sum(a), count(*) FROM t GROUP BY b ORDER BY 2;"
		words=(sqlite3 :memory: "$script")
		;;
	git-log) words=(git --no-pager -C repository log --stat -p) ;;
	git-grep) words=(git --no-pager -C repository grep -c '9[0-5]* line [13]*7') ;;
	zstd) words=(zstd -q -c "-${zstd_level:-3}" input.bin) ;;
	lz4) words=(lz4 -q -c "-${lz4_level:-1}" input.bin) ;;
	xz) words=(xz -T1 -c "-${xz_level:-1}" input.bin) ;;
	esac
	command -v "${words[0]}" >/dev/null
}
