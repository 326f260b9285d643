# The numbers are those of 'lode report', which mines such a profile, too.
lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
cp x.lode before.lode
lode annotate x.lode F1 --limit 1 >finding.txt
lode annotate x.lode 17 --limit 1 >sequence.txt
cmp x.lode before.lode
lode mine x.lode >/dev/null
lode annotate x.lode F1 --limit 1 | cmp - finding.txt
lode annotate x.lode 17 --limit 1 | cmp - sequence.txt
