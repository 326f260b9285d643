# Each form, plain and compressed, told by its first bytes; from files and pipes. How small the
# trace becomes is not what this is about.
pack() { lode trace pack "$@" -o x.rps --verbose | sed -E 's/in .*reference$/in N bytes/; s/, [0-9.]+ million.*//'; }
printf '==7== Command: a b\nI  0401ab70,3\n S 1fff000718,8\n==7==   guest instrs:  1,234\n' >lackey
printf '2 401ab70\n1 1fff000718\n2 401ab73 remark\n3 0\n' >din
printf 'i 401ab70 3\nw 1fff000718 8\n' >xdin
printf 'kind,address,size\nfetch,0x401ab70,3\n' >csv
{ printf 'p\1\100\0\0\0\0\0'; head -c 56 /dev/zero; } >champsim
gzip -c din >din.gz
xz -c xdin >xdin.xz
zstd -qc csv >csv.zst
pack lackey
lode trace unpack x.rps
lode trace info x.rps --quick --format csv | grep -E '^(total|trace,(program|tool),)' | tr -d '\r'
pack din.gz
lode trace unpack x.rps --form din
pack - <xdin.xz
cat csv.zst | pack -
pack --form champsim --command 'c d' champsim
lode trace unpack x.rps --form champsim | cmp - champsim
lode trace info x.rps --quick --format csv | grep -E '^trace,(program|tool),' | tr -d '\r'
