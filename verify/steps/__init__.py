"""What is checked of what was built: the steps of each construction in the file of its name;
hypotheses, conclusions and what several constructions share in the others."""
