"""A rule that is redefined after use: the pinned result with its warning, then ``refresh()`` and the new gradient."""

import textwrap
import warnings

import numpy as np
from common import heading

import thunkad as ad


def soften(x):
    return x * x


def energy(x):
    return np.sum(soften(x))


def show(what, gradient, expected) -> None:
    print(f"  {what}: {np.array2string(np.asarray(gradient), precision=3)}")
    np.testing.assert_allclose(gradient, expected)


def quote(text) -> None:
    print(textwrap.indent(str(text), "    "))


def main() -> None:
    heading("A rule redefined after use")

    @ad.rrule(soften)
    def first(x):
        def pullback(y_bar):
            return ad.thunk(lambda: y_bar * 2 * x)

        return x * x, pullback

    x = np.array([-2.0, 0.5, 3.0])
    gradient = ad.grad(energy)
    show("with the first rule                ", gradient(x), 2 * x)

    @ad.rrule(soften)
    def second(x):
        def pullback(y_bar):
            return ad.thunk(lambda: y_bar * np.clip(2 * x, -1.0, 1.0))

        return x * x, pullback

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        show("rule replaced by one that clips    ", gradient(x), 2 * x)
    stale = [w for w in caught if issubclass(w.category, ad.StaleRuleWarning)]
    if len(stale) != 1:
        raise SystemExit(f"one StaleRuleWarning was expected, {len(stale)} came")
    print("  the result is pinned, and says so:")
    quote(f"{stale[0].category.__name__}: {stale[0].message}")
    print("  explain() still shows the first rule:")
    quote(ad.explain(energy))

    print("  refresh() reports:")
    quote(ad.refresh())
    show("after refresh(), the second rule   ", gradient(x), np.clip(2 * x, -1.0, 1.0))
    print("  and explain() says why:")
    quote(ad.explain(energy))

    ad.opt_out(soften, np.ndarray)
    ad.refresh()
    show("opted out: looked inside the body  ", gradient(x), 2 * x)


if __name__ == "__main__":
    main()
