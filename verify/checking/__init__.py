"""The plain and the fast check of certificates, which also precede the return of any answer."""
