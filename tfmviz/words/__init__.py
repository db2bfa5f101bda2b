"""How tokens, numbers and texts of the reader are said. What is said here is safe in Markdown."""
