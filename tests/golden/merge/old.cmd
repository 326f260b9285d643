# The profile before is kept, by import, too; a text is not taken for one.
lode import "$DATA/flow/pairs.flow" -o a.lode >/dev/null
sed 's/ 600 100 / 700 100 /' "$DATA/flow/pairs.flow" >b.flow
lode import b.flow -o b.lode >/dev/null
cp a.lode c.lode
lode merge --same-paths a.lode b.lode -o c.lode
cmp a.lode c.lode.old
cp c.lode merged
lode import "$DATA/flow/pairs.flow" -o c.lode
cmp merged c.lode.old
ls
# Text is replaced by text.
echo old >text
lode export a.lode -o text
head -1 text
echo text >c.lode.old
lode merge --same-paths a.lode b.lode -o c.lode 2>&1 || echo "→ $?"
lode merge --same-paths a.lode b.lode -o text 2>&1 || echo "→ $?"
