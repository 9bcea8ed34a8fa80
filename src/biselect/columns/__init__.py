"""What a column is: how each type of column is read, counted and weighed."""
