"""What once hurt, as tables: texts, addresses, spellings of closed doors (which the tests of the doors try).

Damaged checkpoints are in `tests/huggingface/damages.py`, where the libraries are that read them.
"""
