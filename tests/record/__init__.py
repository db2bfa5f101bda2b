"""The record of a pass, and its edits."""
