mined --min-support 0.05 --iterations 2
lode signature x.lode --name pairs --min-support 20%
lode classify x.lode --signatures . --format json | sed -E "s,\"(distance|share_error)\":[^\,]*\,,,g; s|([0-9]\.[0-9]{3})[0-9]+|\1|g"
