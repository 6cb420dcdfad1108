"""What is refused before training, what is tried on made-up records, and canaries for audits."""
