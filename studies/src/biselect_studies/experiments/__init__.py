"""What studies compute: one module per experiment, each with `work(cell, seeds)`."""
