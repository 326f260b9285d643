lode memory x.lode --top many
