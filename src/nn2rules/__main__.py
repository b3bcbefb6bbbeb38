"""Run the command line: ``python -m nn2rules``."""

from nn2rules.cli import main

if __name__ == "__main__":
    main()
