"""The HTTP service: one app, with the REST API, the pages, MCP and the proxy as rooms of their own."""
