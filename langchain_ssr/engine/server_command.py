"""`vllm serve`, run in this process."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str]) -> None:
    """Run the command until the server is told to stop.

    This is what vLLM's `main` does for `serve`. It is not called itself, for it asks
    for the version of a package `vllm`, which the CPU build is not.

    Args:
        arguments: What follows `vllm`.
    """
    from vllm.entrypoints.cli.serve import ServeSubcommand
    from vllm.entrypoints.serve.utils.api_utils import cli_env_setup
    from vllm.logger import configure_logging_from_args
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    cli_env_setup()
    parser = FlexibleArgumentParser(description="vLLM's server")
    command = ServeSubcommand()
    command.subparser_init(parser.add_subparsers(dest="subparser", required=True))
    args = parser.parse_args(list(arguments))
    configure_logging_from_args(args)
    command.validate(args)
    command.cmd(args)
