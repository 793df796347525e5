"""The theorem's assumptions on the data: A1, A2 and the partition condition."""
