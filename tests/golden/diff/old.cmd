# One profile is compared with the old one beside it; none is the newest with an old one.
sed 's/^v add 300 100/v add 900 100/' "$DATA/flow/pairs.flow" >new.flow
lode diff || true
lode import "$DATA/flow/pairs.flow" -o x.lode.old >/dev/null
lode import new.flow -o x.lode >/dev/null
lode diff x.lode --by functions
lode diff --by functions | head -1
cp x.lode newer.lode
cp x.lode earlier.lode
cp x.lode earlier.lode.old
touch -d 2001-01-01 earlier.lode
lode diff --by functions | cmp - <(lode diff x.lode.old x.lode --by functions)
mkdir other
ln -s ../x.lode other/link.lode
(cd other && lode diff --by functions --format csv | wc -l)
