"""What happens to a compiled gradient when the rules, or the functions, that it was compiled with change.

A derivative is compiled once, with the rules of that moment.  This story changes the rules of ``soften``, which
``energy`` calls, and looks at what the gradient of ``energy`` makes of it.  The numbers are checked on the way.
"""

import textwrap
import warnings

import numpy as np

import thunkad as ad


def soften(x):
    return x * x


def energy(x):
    return np.sum(soften(x))


x = np.array([-2.0, 0.5, 3.0])
gradient = ad.grad(energy)


def chapter(title) -> None:
    print(f"\n{title}\n{'-' * len(title)}")


def show(what, found, expected) -> None:
    print(f"  {what}: {np.array2string(np.asarray(found), precision=3)}")
    np.testing.assert_allclose(found, expected)


def quote(text) -> None:
    print(textwrap.indent(str(text), "    "))


def without_a_rule() -> None:
    chapter("1. No rule: the function is looked into")
    show("gradient", gradient(x), 2 * x)
    print("  what it rests on; that there was no rule is noted, too:")
    for edge in ad.rules.edges(energy):
        quote(f"{edge.callee.__name__}({', '.join(edge.types)}): {edge.how}")


def a_rule_comes() -> None:
    chapter("2. A rule is registered: the old gradient is pinned, and says so once")

    @ad.rrule(soften)
    def clipped(x):
        def pullback(y_bar):
            return ad.thunk(lambda: y_bar * np.clip(2 * x, -1.0, 1.0))

        return x * x, pullback

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        show("first call ", gradient(x), 2 * x)
        show("second call", gradient(x), 2 * x)
    (warning,) = caught
    quote(f"{warning.category.__name__}: {warning.message}")
    print("  explain() shows what is in use:")
    quote(ad.explain(energy))


def refreshed() -> None:
    chapter("3. refresh() brings everything up to date, and reports")
    _, pullback = ad.vjp(energy, x)  # a pullback that is under way ends with the rules that it began with
    quote(ad.refresh())
    show("gradient            ", gradient(x), np.clip(2 * x, -1.0, 1.0))
    show("pullback from before", pullback(1.0)[0], 2 * x)
    print("  explain() says why it was compiled anew:")
    quote(ad.explain(energy))
    quote(f"and nothing is left to do: {ad.refresh()}")


def for_a_while() -> None:
    chapter("4. Another rule for a while, under the policy that follows every change by itself")

    def halved(x):
        return x * x, lambda y_bar: (y_bar * x,)

    with ad.refresh_policy("auto"):
        with ad.rules.override(soften, halved):
            show("inside ", gradient(x), x)
        show("outside", gradient(x), np.clip(2 * x, -1.0, 1.0))


def opted_out() -> None:
    chapter("5. Opting out: arrays are looked into again, though there is a rule")
    ad.opt_out(soften, np.ndarray)
    ad.refresh()
    show("gradient", gradient(x), 2 * x)
    print("  the table says what was passed over, and why:")
    quote(ad.rules.lookup(soften, np.ndarray))


def redefined() -> None:
    chapter("6. A function that is defined again is no change of a rule: it is followed without being asked")
    globals()["soften"] = lambda x: x**3
    show("gradient", gradient(x), 3 * x**2)


def main() -> None:
    for part in (without_a_rule, a_rule_comes, refreshed, for_a_while, opted_out, redefined):
        part()


if __name__ == "__main__":
    main()
