mined --min-support 5%
lode diff x.lode x.lode --normalise nothing || true
lode diff x.lode x.lode --normalise sum
