"""What each hypothesis of Theorem 1 is for: the study behind docs/gallery/hypotheses."""
