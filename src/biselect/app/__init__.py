"""The workbench: a review session in the browser. A server on this machine that shows what the library does."""
