"""The theorems in Coq and the verified checker, used from Python; their sources are in
verify/kernel."""
