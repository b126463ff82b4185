"""`python -m tenure`: the command line where the command itself is not on the path."""

from tenure.serving.cli.main import main

if __name__ == "__main__":
    main()
