# Diagnoses as JSON, and one of them alone.
caused
lode report x.lode --format json | sed -E 's/([0-9]\.[0-9]{3})[0-9]+/\1/g'
lode report x.lode D2 --format json | sed -E 's/([0-9]\.[0-9]{3})[0-9]+/\1/g'
