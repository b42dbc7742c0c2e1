"""Source-transforming automatic differentiation for plain Python and NumPy."""

from thunkad.api import differentiable, grad, jvp, value_and_grad, vjp
from thunkad.captured import Grads, Params
from thunkad.compiled.policy import set_refresh_policy
from thunkad.debugging import debug
from thunkad.derived import (
    checkpoint,
    derivative,
    elementwise_grad,
    gauss_newton_product,
    hessian,
    hook,
    hvp,
    jacobian,
    linearize,
    stop_gradient,
    vhp,
)
from thunkad.errors import (
    AmbiguousRuleError,
    ArgumentError,
    CotangentError,
    NonDifferentiableArgumentError,
    NonScalarOutputError,
    NoRuleError,
    NotImplementedDerivativeError,
    RuleError,
    SourceUnavailableError,
    StaleRuleError,
    StaleRuleWarning,
    ThunkadError,
    UnsupportedSyntaxError,
)
from thunkad.inspection import adjoint_source, coverage, explain
from thunkad.refresh import refresh, rules
from thunkad import nesting as _nesting  # noqa: F401  (rules of grad itself)
from thunkad.rules.define import frule, non_differentiable, opt_in, opt_out, rrule, scalar_rule
from thunkad.tangents import (
    InplaceableThunk,
    LazyTuple,
    NotImplementedTangent,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    thunk,
    unthunk,
)

__version__ = "0.1.0"
