"""A biography of every head: what it does on many texts, claims about it, and whether they hold on other texts."""
