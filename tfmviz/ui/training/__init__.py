"""Training: shipped runs, how an induction head forms, and the reader's runs."""
