"""Tables that no memory holds, as parts that are read one at a time, wherever the work is done."""
