for options in '--over-time --capacity' '--slices 3' '--elapsed 5' '--capacity' '--over-time --slices 0' '--capacity --elapsed 0'; do
	lode classify x.lode --signatures . $options || echo "$?"
done
