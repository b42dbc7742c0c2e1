"""A two-layer network on the digits: parameters in a dict, plain gradient descent."""

import numpy as np
from common import check_against_differences, digits, heading, require

import thunkad as ad


def network(parameters, x):
    hidden = np.tanh(x @ parameters["w1"] + parameters["b1"])
    return hidden @ parameters["w2"] + parameters["b2"]


def network_loss(parameters, x, labels):
    logits = network(parameters, x)
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


def initial(rng, pixels=64, hidden=48, classes=10):
    return {
        "w1": rng.standard_normal((pixels, hidden)) / np.sqrt(pixels),
        "b1": np.zeros(hidden),
        "w2": rng.standard_normal((hidden, classes)) / np.sqrt(hidden),
        "b2": np.zeros(classes),
    }


def main() -> None:
    heading("A two-layer network on the digits (parameters in a dict, gradient descent)")
    data = digits()
    parameters = initial(np.random.default_rng(3))
    value_and_gradient = ad.value_and_grad(network_loss)

    _, gradient = value_and_gradient(parameters, data.x, data.y)
    for name in parameters:
        print(f"the gradient of {name} against finite differences:")
        check_against_differences(
            lambda value, name=name: network_loss({**parameters, name: value}, data.x, data.y),
            gradient[name],
            parameters[name],
            directions=1,
        )

    print()
    rate = 0.8
    for iteration in range(1, 201):
        value, gradient = value_and_gradient(parameters, data.x, data.y)
        parameters = {name: value - rate * gradient[name] for name, value in parameters.items()}
        print(f"  iteration {iteration:3d}: loss {float(value):.6f}")
    accuracy = float(np.mean(np.argmax(network(parameters, data.x_held_out), axis=1) == data.y_held_out))
    print(f"held-out accuracy {accuracy:.3f}")
    require(accuracy, 0.95, "the held-out accuracy")


if __name__ == "__main__":
    main()
