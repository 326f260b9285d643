printf 'echo word\n' >x
printf '\177ELF rubbish' >y
chmod +x x y
lode run --exact -o x.lode -- ./x && exit 9
lode run --exact -o x.lode -- ./y 
