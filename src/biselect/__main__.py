"""`python -m biselect`."""

from biselect.cli import main

main()
