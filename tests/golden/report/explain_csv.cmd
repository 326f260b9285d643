mined --min-support 0.05 --iterations 3
lode report x.lode --explain --findings --format csv | sed 's/,[0-9].*,⟪/,…,⟪/'
