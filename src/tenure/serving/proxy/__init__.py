"""The proxy between an agent and its provider: it adds lessons to requests, passes replies on as they come, and records runs."""
