# A profile of schema version 3 is read as it is; the first run that is added makes it one of version 4.
cp "$DATA/../fuzz/corpus/store/profile_v3" x.lode
cp x.lode before.lode
lode report x.lode main --all --limit 3
lode report x.lode main --all --format csv >before.csv
cmp x.lode before.lode
lode mine x.lode --min-support 50% --iterations 1 --name more
lode report x.lode main --all --format csv | cmp - before.csv
lode report x.lode more --all --limit 2 | grep ⟨
