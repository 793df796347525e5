"""The Coq theorems and the verified checker, for use from Python. Their sources are in
verify/kernel."""
