"""A robust regression on the diabetes data: a Python loop over the patients, and an ``if`` in it."""

import numpy as np
from common import check_against_differences, diabetes, heading
from scipy.optimize import minimize

import thunkad as ad


def huber_loss(weights, x, y, width):
    total = 0.0
    for row, target in zip(x, y):
        error = abs(target - row @ weights[1:] - weights[0])
        if error <= width:
            total += 0.5 * error * error
        else:
            total += width * (error - 0.5 * width)
    return total / len(y)


def main() -> None:
    heading("Robust regression on the diabetes data (a Python loop with an if)")
    data = diabetes()
    # Some targets of the training part are spoilt, as a slipped decimal point would: what the robust loss is for.
    y = data.y.copy()
    y[::20] *= 10.0
    arguments = (data.x, y, 40.0)
    value_and_gradient = ad.value_and_grad(huber_loss)

    start = np.zeros(1 + data.x.shape[1])
    start[0] = np.median(y)
    value, gradient = value_and_gradient(start, *arguments)
    print("its gradient against finite differences:")
    check_against_differences(lambda weights: huber_loss(weights, *arguments), gradient, start)

    print(f"\n  iteration   0: loss {float(value):.6f}")
    iteration = 0

    def report(intermediate_result) -> None:
        nonlocal iteration
        iteration += 1
        print(f"  iteration {iteration:3d}: loss {float(intermediate_result.fun):.6f}")

    result = minimize(
        value_and_gradient, start, args=arguments, method="L-BFGS-B", jac=True, callback=report, options={"maxiter": 40}
    )

    def held_out_error(weights) -> float:
        return float(np.mean(np.abs(data.y_held_out - data.x_held_out @ weights[1:] - weights[0])))

    squares = np.linalg.lstsq(np.column_stack([np.ones(len(y)), data.x]), y, rcond=None)[0]
    print(f"mean absolute error on held-out patients: {held_out_error(result.x):.1f}")
    print(f"for comparison, least squares on the same spoilt data: {held_out_error(squares):.1f}")
    print(f"for comparison, the constant that it started from: {held_out_error(start):.1f}")
    if not held_out_error(result.x) < held_out_error(squares):
        raise SystemExit("the robust fit is no better than least squares")


if __name__ == "__main__":
    main()
