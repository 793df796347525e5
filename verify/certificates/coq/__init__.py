"""The theorems in Coq and the verified checker, from Python: what they are is in verify/kernel."""
