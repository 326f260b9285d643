mined --min-support 0.05 --iterations 2
sed -e '/^graph copy/,$d' "$DATA/flow/pairs.flow" >part.flow
lode import part.flow -o part.lode >/dev/null
mkdir known
lode signature part.lode --name part -o known/part.sig
lode classify x.lode --signatures known
