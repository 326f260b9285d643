mined --min-support 0.05 --iterations 2
lode classify x.lode --signatures nowhere || echo "status $?"
touch file
lode classify x.lode --signatures file
