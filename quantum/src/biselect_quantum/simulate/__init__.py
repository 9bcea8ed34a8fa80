"""Exact simulation inside the (k, m) sector: the state is a C(N, k) × C(D, m) matrix, never a 2^(N+D) vector."""
