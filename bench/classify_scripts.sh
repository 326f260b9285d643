# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The scripts that the interpreters of bench/classify.sh and bench/classify_mixtures.sh run, into input/.

cat >input/count.pl <<'PERL'
my (%n, $s); while (<>) { for my $w (split) { $n{lc $w}++; $s += length $w } }
my @t = sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n; print "$_ $n{$_}\n" for @t[0 .. 9]; print "$s\n";
PERL
cat >input/fields.pl <<'PERL'
my (%sum, %late); while (<>) { next unless /^(\d+),(node\d+),([\d.]+),(\w+)$/; $sum{$2} += $3; $late{$2}++ if $4 ne 'ok'; s/node(\d+)/host-$1/ }
printf "%s %.3f %d\n", $_, $sum{$_}, $late{$_} // 0 for sort keys %sum;
PERL
cat >input/count.py <<'PYTHON'
import collections, sys
n = collections.Counter()
for line in open(sys.argv[1]):
    for w in line.split():
        n[w.lower()] += len(w)
print(n.most_common(10), sum(n.values()))
PYTHON
cat >input/numbers.py <<'PYTHON'
import sys
v = [int(x) for x in open(sys.argv[1])][:6000]
a = [[(v[i * 40 + j] % 97) * 0.5 for j in range(40)] for i in range(40)]
b = [[sum(a[i][k] * a[k][j] for k in range(40)) for j in range(40)] for i in range(40)]
print(sum(map(sum, b)), sum(1 for x in v if all(x % d for d in range(2, 20))))
PYTHON
cat >input/numbers.lua <<'LUA'
local t, s = {}, 0
for l in io.lines(arg[1]) do t[#t + 1] = tonumber(l) end
for round = 1, 2 do for i = 2, #t do local k = t[i] % 1009; t[k + 1] = (t[k + 1] or 0) + t[i - 1] % 7; s = s + t[i] // 3 end end
table.sort(t); print(s, t[#t // 2])
LUA
cat >input/count.awk <<'AWK'
{ for (i = 1; i <= NF; i++) { n[tolower($i)]++; c += length($i) } } END { for (w in n) if (n[w] > m) m = n[w]; print m, c }
AWK
cat >input/count.tcl <<'TCL'
set f [open [lindex $argv 0]]; set n 0
while {[gets $f l] >= 0} { foreach w [split $l] { incr c($w); incr n [string length $w] } }
puts "$n [array size c]"
TCL
