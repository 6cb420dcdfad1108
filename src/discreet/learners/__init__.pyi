from .kmeans import KMeans as KMeans

__all__: list[str]
