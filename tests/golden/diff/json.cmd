# To six digits: compilers differ in the last.
sed 's/^v add 300 100/v add 900 100/' "$DATA/flow/pairs.flow" >new.flow
lode import "$DATA/flow/pairs.flow" -o base.lode >/dev/null
lode import new.flow -o new.lode >/dev/null
lode diff base.lode new.lode --format json --limit 1 | python3 -c '
import json, sys
number = lambda text: float("%.6g" % float(text))
print(json.dumps(json.load(sys.stdin, parse_float=number, parse_int=number), ensure_ascii=False, indent=1))'
