"""Cheaper attention, one method per file: each query's pattern, and the computation that saves work.

All functions take one head: q is (q_len, d), already divided by the divisor of the scores; k and v are (k_len, d).
`attend` never holds more than its `cost` says; `pattern` forms the whole pattern, for display. Tests compare both.
"""
