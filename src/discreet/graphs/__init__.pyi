from .graph_data import graph_data as graph_data

__all__: list[str]
