printf 'I  0401ab70,3\n S 1fff000718,8\n==lode== thread 1\nI  0401ab73,5\n M 0000000000000010,4\n==lode== thread 0\n L ffffffffffffffff,16\n' >text
lode trace pack text -o x.rps >/dev/null
for form in lackey din xdin csv; do
	lode trace unpack x.rps --form $form
done
lode trace unpack x.rps --form champsim | od -A d -t x8
