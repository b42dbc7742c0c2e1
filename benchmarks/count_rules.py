"""Count the NumPy functions that have rules, by module; ``--page`` writes docs/coverage.md.

The second column is autograd 1.9.1: functions with a vjp (its list of July 2026).
"""

from __future__ import annotations

import pathlib
import sys

from thunkad.rules import catalogue

AUTOGRAD = {"np": 115 + 13, "np.linalg": 10, "np.fft": 14}
PAGE = pathlib.Path(__file__).parents[1] / "docs" / "coverage.md"


def main() -> None:
    if "--page" in sys.argv:
        PAGE.write_text(catalogue.page(), encoding="utf-8")
        return
    print(f"{'':28}{'rules':>8}{'composed':>10}{'constant':>10}{'in place':>10}{'refused':>9}{'autograd':>10}")
    for where, found in catalogue.counts().items():
        columns = [found.get(s, 0) for s in catalogue.STATES]
        theirs = AUTOGRAD.get(where, "")
        print(f"{where:28}{columns[0]:8}{columns[1]:10}{columns[2]:10}{columns[3]:10}{columns[4]:9}{theirs:>10}")


if __name__ == "__main__":
    main()
