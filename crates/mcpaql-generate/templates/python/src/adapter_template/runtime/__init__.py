"""The code that all generated adapters share: validation, introspection, HTTP, commands and the MCP server."""
