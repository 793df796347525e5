"""The theorems in Coq and the verified checker, for use from Python. Their sources are in
verify/kernel."""
