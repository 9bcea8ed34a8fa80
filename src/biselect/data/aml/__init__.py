"""Anti-money-laundering transactions: the published IBM schema, features from the past alone, and a generator."""
