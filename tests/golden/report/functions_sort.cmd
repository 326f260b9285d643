mined --min-support 0.05
lode report x.lode --functions --sort excess
