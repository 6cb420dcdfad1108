"""Pipelines, the choice of hyper-parameters, evaluation."""
