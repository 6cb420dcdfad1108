"""Relations: what a question is about, as a tree of frozen nodes that front ends make and engines read.

It stands beside the schema, and not in `core`: a node carries a schema, conditions and expressions on its columns.
"""
