lode mcp --help
