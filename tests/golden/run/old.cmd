# The profile before is kept; another file of that name is neither taken for one nor overwritten.
echo text >x.lode
lode run --exact --fast --report report.txt -o x.lode -- sh -c 'exit 3' || true
cat x.lode
rm x.lode
lode run --exact --fast --report report.txt -o x.lode -- sh -c 'exit 3' || true
ls
cp x.lode first
lode run --exact --fast --report report.txt -o x.lode -- sh -c 'exit 4' || true
ls
cmp first x.lode.old
lode diff --by functions >/dev/null
# What is under the name and is no profile stays.
cp x.lode y.lode
mkdir y.lode.old
lode run -o y.lode -- true || true
rmdir y.lode.old
echo mine >y.lode.old
lode run -o y.lode -- true || true
cat y.lode.old
cmp x.lode y.lode
