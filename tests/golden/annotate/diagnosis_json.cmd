# The same for programs.
caused
lode annotate x.lode d2 --format json | sed -E 's/([0-9]\.[0-9]{3})[0-9]+/\1/g'
lode annotate x.lode D2 --format csv | sed -E 's/([0-9]\.[0-9]{3})[0-9]+/\1/g'
