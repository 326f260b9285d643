# Words that are no causes are refused, with those that are.
caused
lode report x.lode --fail-on '' || echo "status $?"
lode report x.lode --fail-on division,divison
