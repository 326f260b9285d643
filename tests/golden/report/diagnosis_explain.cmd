# One diagnosis alone, one finding alone, all diagnoses.
caused
lode report x.lode --explain D2
lode report x.lode f1
lode report x.lode main --explain
