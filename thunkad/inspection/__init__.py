"""Looking at what the compiler made of a function: its text, its decisions, its stages."""

from thunkad.inspection.reports import Report, coverage, explain
from thunkad.inspection.sources import adjoint_source, show_stage

__all__ = ["Report", "adjoint_source", "coverage", "explain", "show_stage"]
