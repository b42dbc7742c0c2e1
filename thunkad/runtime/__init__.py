"""The only code that generated functions and rules may call."""
