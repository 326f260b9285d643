# SPDX-License-Identifier: MIT
# From the CSV of trace_truth, of any number of programs: one line per rule, over all of them. "late"
# has the claims of next-round that are true of the next round, and how many of the sample too.
#   awk -f table.awk FILE…
BEGIN { FS = "," }
$1 == "program" { next }
!($2 in points) { order[++n] = $2 }
{ points[$2] += $3; claimed[$2] += $4; unverified[$2] += $6; wrong[$2] += $7; refuted += $NF }
$2 == "waited" { late += $(NF - 5); same += $(NF - 4) }
END {
	for (i = 1; i <= n; i++) {
		rule = order[i]
		printf "%s %d %d %.2f %d %d\n", rule, points[rule], claimed[rule],
			100 * claimed[rule] / points[rule], unverified[rule], wrong[rule]
	}
	printf "late %d %d\n", late, same
	printf "refuted %d\n", refuted
}
