from .published_table import PublishedTable as PublishedTable
from .rules.association_rules import AssociationRule as AssociationRule
from .rules.association_rules import AssociationRules as AssociationRules
from .rules.association_rules import mine_rules as mine_rules
from .rules.hide_rules import hide_rules as hide_rules
from .rules.private_rules import PrivateRules as PrivateRules
from .rules.private_rules import private_rules as private_rules
from .synthetic.synthesize import synthesize as synthesize
from .synthetic.synthetic_table import SyntheticTable as SyntheticTable
from .utility.evaluate_table import TableEvaluation as TableEvaluation
from .utility.evaluate_table import evaluate_table as evaluate_table
from .utility.utility_report import UtilityReport as UtilityReport
from .utility.utility_report import utility_report as utility_report

__all__: list[str]
