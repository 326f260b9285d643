# Two causes; what is left has none.
caused
lode report x.lode
