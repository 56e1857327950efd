"""__ADAPTER_DISPLAY_NAME__ as an MCP server."""
