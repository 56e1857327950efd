"""Other MCP servers: a client of our own, because what a server says must arrive as it was said."""
