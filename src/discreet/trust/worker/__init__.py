"""A process of its own for the records of one data set: it answers what was paid for elsewhere, and knows no ledger."""
