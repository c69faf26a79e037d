"""``python -m obliquetd`` is the command ``obliquetd``."""

from obliquetd.cli import main

if __name__ == "__main__":
    main()
