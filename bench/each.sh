#!/bin/bash
# SPDX-License-Identifier: MIT
# What findings say that an execution costs, against what it does cost: the programs of
# tests/insight with a cost planted in two hundred functions, with it and without.
#   bench/each.sh [PROGRAM…]
# LODE names the lode to use; default: build/src/cli/lode. FINDINGS=1 prints the findings too;
# ROUNDS=2000 runs the programs for twice as long, where they have too few samples.
set -euo pipefail
cd "$(dirname "$0")/.."
lode=${LODE:-build/src/cli/lode}
# The last four are for judging alone: no rule was chosen by them.
[ $# -gt 0 ] || set -- slow_divisions blocked_loads locked_adds pointer_chase mispredicted_calls \
	short_divisions exchanges square_roots mispredicted_branches
for name; do
	case $name in
	slow_divisions) planted=(3 'kind:div,op:div') ;;
	blocked_loads) planted=(1 'needs:part-store') ;;
	locked_adds) planted=(1 'kind:atomic,op:lock_xadd') ;;
	pointer_chase) planted=(1 'address:load,address:load-pointer') ;;
	# Seven in eight are mispredicted.
	mispredicted_calls) planted=(0.875 'at:entry,kind:indirect') ;;
	short_divisions) planted=(1 'kind:div,op:div') ;;
	exchanges) planted=(1 'kind:atomic,op:xchg') ;;
	# What waits for the root is what converts it.
	square_roots) planted=(1 'kind:div,op:sqrtsd,needs:div') ;;
	# Every second one is.
	mispredicted_branches) planted=(0.5 'kind:branch') ;;
	esac
	# Status 77: too few samples; the next program may have enough.
	tests/insight/each.py "$lode" "tests/insight/$name.c" "${planted[@]}" || [ $? = 77 ]
done
