"""Linear models: regressions, support vectors, the perceptron."""
