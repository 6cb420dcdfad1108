"""Private scikit-learn estimators."""
