"""Tables of the paper, and instances with known answers."""
