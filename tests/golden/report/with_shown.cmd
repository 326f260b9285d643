mined --min-support 0.05 --iterations 2
lode report x.lode --all --with 'mov, l1d-miss' --format csv | tee whole | cut -c 1-60
lode report x.lode --all --with '⟪mov, l1d-miss⟫' --format csv | cmp - whole
lode report x.lode --all --with mov --with ev:l1d-miss --format csv | cmp - whole
lode report x.lode --all --text '⟨l1d-miss mov⟩' --format csv | cut -c 1-60
lode report x.lode --all --with 'at loop-head' --limit 2 --format csv | cut -c 1-60
lode report x.lode --all --with 'needs lod'
