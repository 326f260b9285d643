lode report x.lode --functions --explain
