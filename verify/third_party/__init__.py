"""Third-party models: trained layers, inputs of layers, and whether the assumptions hold."""
