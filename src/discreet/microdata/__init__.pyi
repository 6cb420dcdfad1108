from .published_table import PublishedTable as PublishedTable
from .synthetic.synthesize import synthesize as synthesize
from .synthetic.synthetic_table import SyntheticTable as SyntheticTable

__all__: list[str]
