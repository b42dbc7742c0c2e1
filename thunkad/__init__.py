"""Source-transforming automatic differentiation for plain Python and NumPy."""

from thunkad.api import differentiable, grad, jacobian, value_and_grad, vjp
from thunkad.compiled.policy import set_refresh_policy
from thunkad.errors import *  # noqa: F403
from thunkad.tangents import (
    InplaceableThunk,
    LazyTuple,
    NoTangent,
    NotImplementedTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    thunk,
    unthunk,
)
