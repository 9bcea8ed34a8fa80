"""Commands of circuits, which `biselect` finds by entry point."""
