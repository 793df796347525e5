"""Whether a run is quiet: only errors, and what --json asks for, are printed (--quiet)."""

from contextvars import ContextVar

quiet: ContextVar[bool] = ContextVar("quiet", default=False)
