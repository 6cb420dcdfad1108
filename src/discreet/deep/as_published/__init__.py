"""As published, and not private: baselines and prices of papers, to compare with. No account pays by them."""
