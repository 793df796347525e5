"""Constructions as the rest of the toolkit knows them: one description each, in one registry."""
