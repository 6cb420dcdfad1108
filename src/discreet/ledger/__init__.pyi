from .memory_ledger import MemoryLedger as MemoryLedger
from .sqlite_ledger import SqliteLedger as SqliteLedger

__all__: list[str]
