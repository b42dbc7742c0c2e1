"""What ``import thunkad`` costs over ``import numpy``.

Each import runs in a process of its own, the two in turns so that a busy machine hits both alike; the best of nine
counts, being the one that the rest of the machine disturbed least.
"""

import compileall
import subprocess
import sys
from importlib.util import find_spec

RUNS = 9
TIMED = "import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"


def seconds(statement: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", TIMED.format(statement=statement)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def compile_bytecode() -> None:
    """An installed package has its bytecode; a checkout may not, and some environments forbid writing it on import."""
    for name in ("thunkad", "gast", "astor", "numpy"):
        spec = find_spec(name)
        if spec is not None:
            for folder in spec.submodule_search_locations or ():
                compileall.compile_dir(folder, quiet=2)
            if not spec.submodule_search_locations and spec.origin:
                compileall.compile_file(spec.origin, quiet=2)


def main() -> None:
    compile_bytecode()
    statements = ("import numpy", "import numpy; import thunkad", "import numpy, gast", "import numpy, astor")
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(RUNS):
        for statement in statements:
            best[statement] = min(best[statement], seconds(statement))
    base = best["import numpy"]
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"import time, Python {python}, best of {RUNS} processes each, in turns")
    print(f"  import numpy                 {base * 1e3:6.1f} ms")
    print(f"  import thunkad, over numpy   {(best['import numpy; import thunkad'] - base) * 1e3:6.1f} ms")
    print(f"    for comparison, gast       {(best['import numpy, gast'] - base) * 1e3:6.1f} ms")
    print(f"    for comparison, astor      {(best['import numpy, astor'] - base) * 1e3:6.1f} ms")


if __name__ == "__main__":
    main()
