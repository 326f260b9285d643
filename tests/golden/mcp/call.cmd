# One call; what it says of a missing file is no error of the protocol.
printf '%s\n' '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "info", "arguments": {"profile": "none.lode"}}}' | lode mcp
lode mcp x.lode || echo $?
