"""What `prove` does between the data and the finished record, stage by stage."""
