"""Rules of the functions that make derivatives: differentiating ``grad(f)`` is differentiating ``f``.

The tangent of a derivative function is that of the function that it is the derivative of (of what that captured).
"""

from __future__ import annotations

from thunkad.api import grad, value_and_grad
from thunkad.compiled.maps_again import by_itself, pull_map, push_map
from thunkad.compiled.sharing import Apart
from thunkad.compiled.surroundings import Surroundings
from thunkad.derived import (
    checkpoint,
    elementwise_grad,
    gradient_of_sum,
    hessian,
    hook,
    jacobian,
    product_with_hessian,
    stop_gradient,
    tangent_of_gradient,
)
from thunkad.rules.library import alternative, frule, non_differentiable, rrule
from thunkad.runtime.maps import applied, taken_back
from thunkad.runtime.replays import handed_over
from thunkad.runtime.shadows import keep
from thunkad.runtime.watching import (
    Watch,
    WatchCopies,
    refuse_shared,
    refuse_shared_in,
    separate,
    watch_copies,
    watch_shared,
)
from thunkad.tangents import NoTangent


@rrule(grad)
def _(f, argnums=0, argnames=None, has_aux=False):
    g = grad(f, argnums, argnames, has_aux)

    def pullback(g_bar):
        return g_bar, NoTangent(), NoTangent(), NoTangent()

    return g, pullback


@frule(grad)
def _(f, argnums=0, argnames=None, has_aux=False, *, f_dot):
    return grad(f, argnums, argnames, has_aux), f_dot


@rrule(value_and_grad)
def _(f, argnums=0, argnames=None, has_aux=False):
    g = value_and_grad(f, argnums, argnames, has_aux)

    def pullback(g_bar):
        return g_bar, NoTangent(), NoTangent(), NoTangent()

    return g, pullback


@frule(value_and_grad)
def _(f, argnums=0, argnames=None, has_aux=False, *, f_dot):
    return value_and_grad(f, argnums, argnames, has_aux), f_dot


@rrule(hessian)
def _(f, argnums=0):
    h = hessian(f, argnums)

    def pullback(h_bar):
        return h_bar, NoTangent()

    return h, pullback


@frule(hessian)
def _(f, argnums=0, *, f_dot):
    return hessian(f, argnums), f_dot


@rrule(jacobian)
def _(f, argnums=0, mode=None):
    j = jacobian(f, argnums, mode)

    def pullback(j_bar):
        return j_bar, NoTangent(), NoTangent()

    return j, pullback


@frule(jacobian)
def _(f, argnums=0, mode=None, *, f_dot):
    return jacobian(f, argnums, mode), f_dot


@rrule(checkpoint)
def _(f):
    g = checkpoint(f)

    def pullback(g_bar):
        return (g_bar,)

    return g, pullback


@frule(checkpoint)
def _(f, *, f_dot):
    return checkpoint(f), f_dot


alternative(product_with_hessian)(tangent_of_gradient)
alternative(elementwise_grad)(gradient_of_sum)
non_differentiable(stop_gradient)


@by_itself(pull_map)
@rrule(applied)
def _(fn, *tangents):
    y = applied(fn, *tangents)

    def pullback(y_bar):
        return NoTangent(), taken_back(fn, y_bar)

    return y, pullback


@by_itself(push_map)
@frule(applied)
def _(fn, *tangents, tangents_dot):
    return applied(fn, *tangents), applied(fn, *tangents_dot)


@rrule(hook, surrogate=True)
def _(x, fn):
    y = hook(x, fn)

    def pullback(y_bar):
        changed = fn(y_bar)
        return (y_bar if changed is None else changed), NoTangent()

    return y, pullback


non_differentiable(
    Watch,
    Watch.check,
    WatchCopies.check,
    watch_copies,
    watch_shared,
    refuse_shared,
    refuse_shared_in,
    handed_over,
    Apart.check,
    Surroundings,
    Surroundings.check,
)


@frule(separate)
def _(x, *others, x_dot):
    return separate(x, *others), keep(x_dot)
