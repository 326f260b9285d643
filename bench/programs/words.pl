my (%n, $s, @k);
while (<>) {
	s/^\s+//;
	for my $w (split /[^A-Za-z_]+/) { $n{lc $w}++; $s += length $w; }
	push @k, $1 if /\b(\w+)\s*\(/;
}
my @t = sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
print join("", map { sprintf "%s %d\n", $_, $n{$_} } @t), $s, " ", scalar(@k), "\n";
