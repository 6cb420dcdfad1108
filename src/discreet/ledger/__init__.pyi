from .memory_ledger import MemoryLedger as MemoryLedger
from .postgres_ledger import PostgresLedger as PostgresLedger
from .sqlite_ledger import SqliteLedger as SqliteLedger

__all__: list[str]
