from .anonymity.anonymize import anonymize as anonymize
from .anonymity.check_anonymity import AnonymityReport as AnonymityReport
from .anonymity.check_anonymity import check_anonymity as check_anonymity
from .published_table import PublishedTable as PublishedTable
from .synthetic.synthesize import synthesize as synthesize
from .synthetic.synthetic_table import SyntheticTable as SyntheticTable

__all__: list[str]
