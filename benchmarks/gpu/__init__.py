"""Tests and benchmarks for a GPU, in resumable parts: `make gpu`, docs/performance.md."""
