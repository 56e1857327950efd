"""What every generated adapter shares: it interprets the compiled catalog and answers as `mcpaql serve` does."""
