mined --min-support 0.05
lode report x.lode --callers copi || true
lode report x.lode --callers u || true
lode report x.lode --callers copy
