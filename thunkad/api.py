"""The functions that users call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from thunkad.by_name import qualified_name
from thunkad.compiled import capture, entry, forward
from thunkad.compiled.entry import ArgNames, ArgNums
from thunkad.inspection import adjoint_source, explain
from thunkad.kinds.lattice import may_have_tangent
from thunkad.runtime.cotangents import check_result
from thunkad.runtime.maps import Linearized, linear_map, value_alone
from thunkad.runtime.marks import Derivative, marked, nests
from thunkad.tangents import NO_TANGENT, LazyTuple, Thunk

F = TypeVar("F", bound=Callable[..., Any])


def grad(
    f: Callable[..., Any],
    argnums: ArgNums = 0,
    argnames: ArgNames = None,
    has_aux: bool = False,
    captured: Any = None,
) -> Callable[..., Any]:
    """The gradient of a function whose result is one real number.

    Parameters
    ----------
    f : callable
        Any callable: a plain or decorated function, a method, a lambda, a partial, a library function that has a rule.
    argnums : int or tuple of int
        Positions of the arguments to differentiate for; a tuple gives a tuple of gradients.
    argnames : str or tuple of str, optional
        The same by name; takes the place of ``argnums``.
    has_aux : bool
        ``f`` returns ``(value, aux)``; the gradient function then returns ``(gradients, aux)``.
    captured : Params, optional
        Arrays that ``f`` closes over, reads as globals or holds in attributes.  The gradient is then for these, a
        :class:`thunkad.Grads`, and ``argnums`` and ``argnames`` are not looked at.

    Returns
    -------
    callable
        Takes the arguments of ``f`` and returns the gradient: for an array one of its shape and dtype (float for
        integers), for a container one of the same structure.

    Raises
    ------
    NonScalarOutputError, NonDifferentiableArgumentError, UnsupportedSyntaxError, NoRuleError
        When the gradient function is called.
    """
    if captured is not None:
        return _named(f, "grad", capture.gradient(f, captured, False, has_aux))
    derivative = entry.gradient(f, "grad", argnums, argnames, has_aux)
    return marked(_named(f, "grad", derivative), Derivative(f, "grad", argnums, argnames, has_aux))


def value_and_grad(
    f: Callable[..., Any],
    argnums: ArgNums = 0,
    argnames: ArgNames = None,
    has_aux: bool = False,
    captured: Any = None,
) -> Callable[..., Any]:
    """Like :func:`grad`, with a function that gives ``(value, gradients)``, or ``((value, aux), gradients)``."""
    if captured is not None:
        return _named(f, "value_and_grad", capture.gradient(f, captured, True, has_aux))
    derivative = entry.gradient(f, "value_and_grad", argnums, argnames, has_aux)
    return marked(_named(f, "value_and_grad", derivative), Derivative(f, "value_and_grad", argnums, argnames, has_aux))


@nests("vjp")
def vjp(f: Callable[..., Any], /, *args: Any, has_aux: bool = False, captured: Any = None, **kwargs: Any) -> Any:
    """The value of ``f`` and its pullback.

    Parameters
    ----------
    f : callable
    *args, **kwargs
        The arguments of ``f``.
    has_aux : bool
        ``f`` returns ``(value, aux)``.
    captured : Params, optional
        Arrays that ``f`` closes over, reads as globals or holds in attributes; the pullback then returns a new
        :class:`thunkad.Grads` for these.

    Returns
    -------
    value : the result of ``f``
    pullback : callable
        Takes a cotangent of the value's shape and returns a lazy tuple with one cotangent per positional argument, each
        computed when it is first read; ``NoTangent()`` for arguments that have none.  May be called any number of
        times.
    aux
        Only with ``has_aux``.
    """
    if captured is not None:
        return capture.vjp(f, captured, args, kwargs, has_aux)
    call = entry.open_call(f, args, kwargs)
    places, _ = entry.wanted_places(call, f, tuple(range(len(args))), None, len(args))
    by_name = dict(zip(call.names, call.kinds()))
    useful = [(name, inside) for name, inside in places if may_have_tangent(by_name[name])]
    specialization, wanted = entry.specialize(call, "vjp", useful, False, has_aux, call.kinds())
    run = entry.Run(specialization)
    value, inner = run.first(call.values)

    def pullback(value_bar: Any) -> Any:
        seed = (value_bar, NO_TANGENT) if has_aux else value_bar
        entries = run.rest(inner, seed)
        by_parameter = dict(zip(wanted, tuple.__iter__(entries)))

        def part(name: str, inside: Any) -> Any:
            found = by_parameter.get(name, NO_TANGENT)
            return found if found is NO_TANGENT else Thunk(lambda: run.forced(found, inside))

        return LazyTuple(part(name, inside) for name, inside in places)

    of = functools.partial(f, **kwargs) if kwargs else f
    linear_map(pullback, Linearized(functools.partial(value_alone, of) if has_aux else of, args, is_pullback=True))
    if has_aux:
        value, aux = value
        check_result(value, "vjp")
        return value, pullback, aux
    check_result(value, "vjp")
    return value, pullback


@nests("jvp")
def jvp(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The value of ``f`` and its derivative in one direction, by forward mode.

    Parameters
    ----------
    f : callable
    primals : sequence
        The positional arguments of ``f``.
    tangents : sequence
        A tangent for each of them: of the shape and structure of the argument; None or a zero (``ZeroTangent()``,
        ``NoTangent()``) for an argument that does not move, whatever it is (nothing is computed for those).

    Returns
    -------
    value, tangent
        The result of ``f`` and its tangent, of the same structure.
    """
    return forward.jvp(f, primals, tangents)


def differentiable(f: F) -> F:
    """Mark ``f`` as meant to be differentiated; returns ``f`` itself.

    Attaches ``f.adjoint_source(…)`` and ``f.explain(…)``; nothing is compiled before the first derivative.
    """
    inner: Any = f.__func__ if isinstance(f, (staticmethod, classmethod)) else f
    inner.adjoint_source = functools.partial(adjoint_source, inner)
    inner.explain = functools.partial(explain, inner)
    return f


def _named(f: Any, what: str, derivative: Callable[..., Any]) -> Callable[..., Any]:
    name = getattr(f, "__name__", type(f).__name__)
    derivative.__name__ = f"{what}({name})"
    if derivative.__module__ != qualified_name.__module__:  # what is not found by name says of what it is
        derivative.__qualname__ = f"{what}({getattr(f, '__qualname__', name)})"
        if hasattr(f, "__qualname__"):
            derivative.__module__ = getattr(f, "__module__", None) or derivative.__module__
    derivative.__doc__ = f"{what} of {name}."
    return derivative
