"""What an attack attains on people who are not in the target: the best that can be said without it."""

from __future__ import annotations

from scipy import stats

RISK = 0.05


def control_rate(right: int, trials: int) -> float:
    """The upper end of the exact one-sided interval of a rate on a control, so that its luck raises no alarm.

    Examples
    --------
    >>> round(control_rate(0, 100), 3), round(control_rate(50, 100), 3), control_rate(3, 3)
    (0.03, 0.586, 1.0)
    """
    return 1.0 if right >= trials else float(stats.beta.ppf(1 - RISK, right + 1, trials - right))
