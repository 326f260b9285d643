#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Kinds of Perl code, of which each runs for the same processor time by the program's own clock.
#
#   known_lines.pl TRUTH [KIND…]      TRUTH: function, line, share; by tabs
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);
use constant SECONDS => $ENV{KNOWN_SECONDS} || 0.3;

require KnownModule;

my @numbers = map { ($_ * 7919) % 10007 } 1 .. 2000;
my @words = map { "word$_" } 1 .. 400;
my %line;

sub recursion {
    my ($n) = @_;
    BEGIN { $line{recursion} = __LINE__ + 1 }
    return $n < 2 ? $n : recursion($n - 1) + recursion($n - 2);
}

sub deep {
    my ($depth) = @_;
    BEGIN { $line{deep} = __LINE__ + 1 }
    return $depth > 0 ? 1 + deep($depth - 1) : grep { $_ > 5000 } @numbers;
}

sub text {
    my $sum = 0;
    BEGIN { $line{text} = __LINE__ + 1 }
    $sum += eval 'my $s = 0; $s += $_ * 3 for 1 .. 300; $s' for 1 .. 5;
    return $sum;
}

sub make_counter {
    my ($step) = @_;
    return sub {
        my $count = 0;
        BEGIN { $line{closure} = __LINE__ + 1 }
        $count += $step * length for @words;
        return $count;
    };
}
my $counter = make_counter(3);
my $module = KnownModule->new(@words);

sub by_square {
    BEGIN { $line{comparison} = __LINE__ + 1 }
    return $a * $a % 1009 <=> $b * $b % 1009;
}

sub sorting {
    my @sorted = sort by_square @numbers[ 0 .. 99 ];
    return $sorted[0];
}

sub block {
    BEGIN { $line{block} = __LINE__ + 1 }
    my @sorted = sort { $a % 101 <=> $b % 101 || $a <=> $b } @numbers;
    return $sorted[0];
}

sub failing {
    my $count = 0;
    for my $word (@words) {
        BEGIN { $line{failing} = __LINE__ + 1 }
        eval { die { word => $word } } or $count += length $@->{word};
    }
    return $count;
}

sub pattern {
    my $all = join ' ', @words;
    my $count = 0;
    BEGIN { $line{pattern} = __LINE__ + 1 }
    $count++ while $all =~ /(\w+?)(\d)(\d*)\b/g;
    return $count;
}

# The first statements of blocks, which Perl executes as parts of what is around them.
sub filter {
    BEGIN { $line{filter} = __LINE__ + 2 }
    my @found = grep {
        ($_ * $_ % 10007 + $_ * 3) % 10007 > 9000
    } map {
        $_ + 1
    } @numbers;
    return scalar @found;
}

sub square {
    my ($n) = @_;
    return ($n * $n + 7) % 10007;
}

sub branch {
    my $sum = 0;
    BEGIN { $line{branch} = __LINE__ + 3 }
    for my $number (@numbers) {
        if ($number % 7) {
            $sum += square($number);
        }
    }
    return $sum;
}

sub child {
    my $sum = 0;
    BEGIN { $line{child} = __LINE__ + 1 }
    $sum += $_ & 5 for @numbers;
    return $sum;
}

# Runs it for so long; how long it did.
sub spend {
    my ($work) = @_;
    my $begin = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    my $now;
    do { $work->() } while ($now = clock_gettime(CLOCK_PROCESS_CPUTIME_ID)) - $begin < SECONDS;
    return $now - $begin;
}

# The same in another process.
sub spend_in_child {
    my ($work) = @_;
    pipe(my $from, my $to) or die;
    my $process = fork() // die;
    if ($process == 0) {
        print {$to} spend($work);
        close $to;
        exit 0;
    }
    close $to;
    my $took = <$from>;
    waitpid $process, 0;
    return $took;
}

my %kinds = (
    recursion => ['main::recursion', sub { recursion(16) }],
    deep => ['main::deep', sub { deep(60) }],
    text => ['main::text', \&text],
    closure => ['main::__ANON__', $counter],
    comparison => ['main::by_square', \&sorting],
    block => ['main::block', \&block],
    failing => ['main::failing', \&failing],
    pattern => ['main::pattern', \&pattern],
    filter => ['main::filter', \&filter],
    branch => ['main::branch', \&branch],
    module => ['KnownModule::scan', sub { $module->scan('word399') }],
    child => ['main::child', \&child],
);
$line{module} = KnownModule::LINE();

my ($truth, @wanted) = @ARGV;
@wanted = sort keys %kinds unless @wanted;
my %took;
for my $kind (@wanted) {
    $took{$kind} = $kind eq 'child' ? spend_in_child($kinds{$kind}[1]) : spend($kinds{$kind}[1]);
}
my $whole = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) + ($took{child} // 0);
open my $out, '>', $truth or die "$truth: $!";
printf {$out} "%s\t%d\t%.4f\n", $kinds{$_}[0], $line{$_}, $took{$_} / $whole for @wanted;
close $out or die;
