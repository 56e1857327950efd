"""The HTTP target: a request is built, sent with care, and its answer read."""
