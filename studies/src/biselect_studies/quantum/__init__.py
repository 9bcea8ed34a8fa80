"""What only the paper asks of circuits."""
