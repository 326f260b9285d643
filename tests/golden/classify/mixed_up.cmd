# Two signatures in one file, one's lines among the other's, and one that is not sorted.
mined --min-support 0.05 --iterations 2
lode signature x.lode --name one -o one.sig
lode signature x.lode --name two -o two.sig
mkdir both among unsorted
cat one.sig two.sig >both/x.sig
paste -d '\n' one.sig two.sig >among/x.sig
sed '10{h;d};11G' one.sig >unsorted/x.sig
for where in both among unsorted; do
	lode classify x.lode --signatures $where || echo "status $?"
done
