from .accountant import delta as delta
from .accountant import epsilon as epsilon
from .calibration import calibrate as calibrate
from .curves import plot_curve as plot_curve

__all__: list[str]
