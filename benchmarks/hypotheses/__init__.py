"""The study behind docs/gallery/hypotheses: what each hypothesis of Theorem 1 is needed for."""
