"""What is CONFIRMED: claims about what was built, each with its evidence. Imports constructions."""
