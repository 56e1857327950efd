"""What every generated adapter shares: validation, introspection, HTTP, commands and the MCP server."""
