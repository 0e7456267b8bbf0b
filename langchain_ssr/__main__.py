"""Entry point of the command `langchain-ssr` and of `python -m langchain_ssr`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; typed errors become one line on stderr."""
    try:
        from langchain_ssr.cli import app
    except ImportError as error:
        sys.exit(
            f"langchain-ssr: {error}. The command needs its extra: "
            "pip install 'langchain-ssr[cli]'"
        )
    from langchain_core.exceptions import LangChainException

    try:
        app()
    except LangChainException as error:
        sys.exit(f"langchain-ssr: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
