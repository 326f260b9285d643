# The causes of a CI job: one of two diagnoses fails it, the other one is not asked for.
caused
lode report x.lode --fail-on 'division,service-*' >/dev/null || echo "status $?"
lode report x.lode --fail-on part-store --fail-on 'service-*' --format json | grep -c '"diagnoses":'
lode report x.lode --all --fail-on '*' >/dev/null
