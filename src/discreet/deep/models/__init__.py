"""Published networks and recipes, private multi-layer perceptrons, public features, fine-tuning."""
