"""Cheaper attention, one method per file.

All functions take one head: q is (q_len, d), already divided by the divisor of the scores; k and v are (k_len, d).
`attend` holds no more than `cost` says; `pattern` forms the whole pattern, for display.
"""
