"""A mutation test of the verifier: deliberate errors, and the checks that must see each of them.

`defect.py` says what a defect and a family of runs are; `runs.py` has the correct small runs,
`spoil.py` the ways of spoiling a head; each other file plants the errors of one family.
"""
