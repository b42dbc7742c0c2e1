"""Checks of rules and of derivatives against finite differences, for the library's tests and for yours.

>>> import numpy as np
>>> from thunkad.testing import check_rrule
>>> check_rrule(np.tanh, np.array([0.1, 0.2]))  # raises CheckError if the rule is wrong
"""

from thunkad.testing.check_grads import check_grads
from thunkad.testing.check_rules import check_frule, check_rrule
from thunkad.testing.differences import numerical_jvp, numerical_vjp
from thunkad.testing.report import CheckError

__all__ = ["CheckError", "check_frule", "check_grads", "check_rrule", "numerical_jvp", "numerical_vjp"]
