"""The ``odradek`` command."""


def main() -> int:
    """Run the command line; the exit status is returned."""
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
