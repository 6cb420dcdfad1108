from .published_table import PublishedTable as PublishedTable

__all__: list[str]
