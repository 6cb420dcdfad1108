"""Social networks that may be published: made from private releases about a graph, and how much like it they are."""
