"""Home: heads at work on a sentence, and the doors to everything else."""
