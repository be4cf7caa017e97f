"""`python -m aleator`: the command line where `aleator` is not on the path."""

from aleator.apps.cli.main import main

main()
