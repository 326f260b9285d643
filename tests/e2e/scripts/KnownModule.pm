# SPDX-License-Identifier: MIT
package KnownModule;
use strict;
use warnings;

use constant LINE => __LINE__ + 9;

sub new {
    my ($class, @words) = @_;
    return bless { words => \@words }, $class;
}

sub scan {
    my ($self, $wanted) = @_;
    my @found = grep { lc $_ eq $wanted } @{ $self->{words} };
    return scalar @found;
}

1;
