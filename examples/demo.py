"""All examples in order, on real data; what ``make demo`` runs."""

import time

import logistic_regression
import matrix_chain
import refresh
import robust_regression
import two_layer_network


def main() -> None:
    start = time.perf_counter()
    for example in (logistic_regression, two_layer_network, robust_regression, matrix_chain, refresh):
        example.main()
    print(f"\nall of it in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
