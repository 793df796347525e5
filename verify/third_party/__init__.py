"""Third-party models: trained layers, embeddings of models, and whether the assumptions hold."""
