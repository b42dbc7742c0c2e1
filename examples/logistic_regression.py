"""Multinomial logistic regression on the digits, with SciPy's L-BFGS-B and a gradient made from the loss."""

import numpy as np
from common import check_against_differences, digits, heading, require
from scipy.optimize import minimize

import thunkad as ad

PIXELS, CLASSES = 64, 10


def logits_of(theta, x):
    weights = theta[: PIXELS * CLASSES].reshape(PIXELS, CLASSES)
    bias = theta[PIXELS * CLASSES :]
    return x @ weights + bias


@ad.differentiable
def logistic_loss(theta, x, labels, penalty):
    logits = logits_of(theta, x)
    top = np.max(logits, axis=1, keepdims=True)
    log_total = top + np.log(np.sum(np.exp(logits - top), axis=1, keepdims=True))
    log_p = logits - log_total
    chosen = log_p[np.arange(len(labels)), labels]
    return -np.mean(chosen) + penalty * np.sum(theta**2)


def main() -> None:
    heading("Multinomial logistic regression on the digits (L-BFGS-B)")
    data = digits()
    value_and_gradient = ad.value_and_grad(logistic_loss)
    arguments = (data.x, data.y, 1e-4)

    start = 0.01 * np.random.default_rng(2).standard_normal(PIXELS * CLASSES + CLASSES)
    value, gradient = value_and_gradient(start, *arguments)
    print("the adjoint that runs:\n")
    print(logistic_loss.adjoint_source(mode="value_and_grad"))
    print("its gradient against finite differences:")
    check_against_differences(lambda theta: logistic_loss(theta, *arguments), gradient, start)

    print(f"\n  iteration   0: loss {value:.6f}")
    iteration = 0

    def report(intermediate_result) -> None:
        nonlocal iteration
        iteration += 1
        print(f"  iteration {iteration:3d}: loss {float(intermediate_result.fun):.6f}")

    result = minimize(
        value_and_gradient, start, args=arguments, method="L-BFGS-B", jac=True, callback=report, options={"maxiter": 60}
    )
    accuracy = float(np.mean(np.argmax(logits_of(result.x, data.x_held_out), axis=1) == data.y_held_out))
    print(f"held-out accuracy {accuracy:.3f}")
    require(accuracy, 0.95, "the held-out accuracy")


if __name__ == "__main__":
    main()
