"""Other people's models: trained layers, embeddings of models, and whether the assumptions hold."""
