lode import "$DATA/flow/pairs.flow" -o x.lode >/dev/null
for flow in potential expected definite; do
	lode mine x.lode --flow $flow --gap 3 --attributes op --iterations 3 --min-support 1% --name $flow
	lode report x.lode $flow --all --with op:cmp --without 'op:m*' --without op:add --without op:ret \
		--sort sequence --format csv
done
