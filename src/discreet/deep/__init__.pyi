from .clipped_sum import ClippedSum as ClippedSum
from .clipped_sum import clipped_sum as clipped_sum

__all__: list[str]
