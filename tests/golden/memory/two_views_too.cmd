lode memory x.lode --layout 'struct node' --coverage
