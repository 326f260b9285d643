# Words that are no causes are refused, with those that are; which these are the catalogue says.
caused
lode report x.lode --fail-on '' || echo "status $?"
lode report x.lode --fail-on division,divison 2>&1 | sed 's/\(4k-alias atomic\) .* \(working-set\)$/\1 … \2/'
