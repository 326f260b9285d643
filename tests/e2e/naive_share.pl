#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
#
# The share of accesses that a placement makes local, counted one page after the other.
#
#   naive_share.pl PLACEMENT ACCESSES TOUCHES
#
# PLACEMENT: of two memories   ACCESSES: lode memory --by-thread --format csv
# TOUCHES: lode memory --first-touch --format csv
use strict;
use warnings;
no warnings 'portable';

my (%memory_of, @ranges, %toucher, %first_seen);
my ($placement, $accesses, $touches) = @ARGV;

# Fields of a line, without what stands in quotes behind those that matter here.
sub rows {
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!\n";
	chomp(my @names = split /,/, <$file>);
	my @rows;
	while (<$file>) {
		chomp;
		s/"[^"]*"/text/g;
		my %row;
		@row{@names} = split /,/, $_, -1;
		push @rows, \%row;
	}
	return @rows;
}

open my $file, '<', $placement or die "$placement: $!\n";
while (<$file>) {
	$memory_of{$1} = $2 if /^run thread (\d+) on memory (\d+)/;
	push @ranges, [hex $1, hex $2, $3] if /^place range (\S+) to (\S+) on memory (\d+)/;
	push @ranges, [hex $1, hex $2, 'all'] if /^interleave range (\S+) to (\S+)/;
}
$toucher{hex $_->{address}} = $_->{first_thread} for rows($touches);

sub home {
	my ($page) = @_;
	my $home;
	for my $range (@ranges) {
		$home = $range->[2] if $range->[0] <= $page && $page <= $range->[1];
	}
	return $home if defined $home;
	return defined $toucher{$page} ? $memory_of{$toucher{$page}} // 'all' : undef;
}

my ($local, $all) = (0, 0);
for my $row (rows($accesses)) {
	my $home = home(hex $row->{address});
	die "page $row->{address}: neither placed nor touched\n" if !defined $home;
	my $memory = $memory_of{$row->{thread}} // 'all';
	$all += $row->{weight};
	$local += $row->{weight} *
		($home eq 'all' || $memory eq 'all' ? 0.5 : $home == $memory ? 1 : 0);
}
printf "%.12f\n", $local / $all;
