from .kmeans import KMeans as KMeans
from .ridge import Ridge as Ridge

__all__: list[str]
