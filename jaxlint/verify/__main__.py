"""`python -m jaxlint.verify`."""

import sys

from jaxlint.verify.command import main

if __name__ == "__main__":
    sys.exit(main())
