"""What a model or its gradients say of attributes and inputs that nobody was told."""
