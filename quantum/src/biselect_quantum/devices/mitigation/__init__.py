"""What can be done about errors without loosening the budgets, and what each of it costs."""
