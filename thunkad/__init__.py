"""Source-transforming automatic differentiation for plain Python and NumPy.

Public names are imported from their modules when they are first used, so that importing the package costs little.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thunkad.api import differentiable, grad, jvp, value_and_grad, vjp
    from thunkad.captured import Grads, Params
    from thunkad.compiled.policy import refresh_policy, set_refresh_policy
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
        KeptValueWarning,
        NonDifferentiableArgumentError,
        NonScalarOutputError,
        NoRuleError,
        NotImplementedDerivativeError,
        RuleError,
        RuleWarning,
        SourceUnavailableError,
        StaleRuleError,
        StaleRuleWarning,
        ThunkadError,
        UnsupportedSyntaxError,
    )
    from thunkad.implicit import ConvergenceError, fixed_point, root
    from thunkad.inspection import adjoint_source, coverage, explain
    from thunkad.refreshing import refresh
    from thunkad.rules.define import frule, non_differentiable, opt_in, opt_out, rrule, scalar_rule
    from thunkad.rules.numerical import numerical_rule
    from thunkad.runtime.segments import checkpointed
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

from thunkad import rules as rules

__version__ = "0.1.0"

_MODULES = {
    "thunkad.api": (
        "differentiable",
        "grad",
        "jvp",
        "value_and_grad",
        "vjp",
    ),
    "thunkad.captured": (
        "Grads",
        "Params",
    ),
    "thunkad.compiled.policy": (
        "refresh_policy",
        "set_refresh_policy",
    ),
    "thunkad.debugging": ("debug",),
    "thunkad.derived": (
        "checkpoint",
        "derivative",
        "elementwise_grad",
        "gauss_newton_product",
        "hessian",
        "hook",
        "hvp",
        "jacobian",
        "linearize",
        "stop_gradient",
        "vhp",
    ),
    "thunkad.errors": (
        "AmbiguousRuleError",
        "ArgumentError",
        "CotangentError",
        "KeptValueWarning",
        "NonDifferentiableArgumentError",
        "NonScalarOutputError",
        "NoRuleError",
        "NotImplementedDerivativeError",
        "RuleError",
        "RuleWarning",
        "SourceUnavailableError",
        "StaleRuleError",
        "StaleRuleWarning",
        "ThunkadError",
        "UnsupportedSyntaxError",
    ),
    "thunkad.implicit": (
        "ConvergenceError",
        "fixed_point",
        "root",
    ),
    "thunkad.inspection": (
        "adjoint_source",
        "coverage",
        "explain",
    ),
    "thunkad.refreshing": ("refresh",),
    "thunkad.rules.define": (
        "frule",
        "non_differentiable",
        "opt_in",
        "opt_out",
        "rrule",
        "scalar_rule",
    ),
    "thunkad.rules.numerical": ("numerical_rule",),
    "thunkad.runtime.segments": ("checkpointed",),
    "thunkad.tangents": (
        "InplaceableThunk",
        "LazyTuple",
        "NotImplementedTangent",
        "NoTangent",
        "Tangent",
        "Thunk",
        "ZeroTangent",
        "thunk",
        "unthunk",
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
__all__ = [*_MODULE_OF, "rules"]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'thunkad' has no attribute {name!r}")
    import importlib

    value = globals()[name] = getattr(importlib.import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
