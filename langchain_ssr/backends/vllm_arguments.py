"""vLLM's own reading of its command line."""

from __future__ import annotations

from typing import Any

from langchain_ssr.errors import SettingsError


class ArgumentReader:
    """Reads the flags of `vllm serve`.

    Args:
        where: Whose flags they are, for messages.
    """

    def __init__(self, where: str) -> None:
        """Import vLLM; may raise whatever a broken installation raises."""
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.entrypoints.launchers.cli_args import make_arg_parser
        from vllm.utils.argparse_utils import FlexibleArgumentParser

        def refuse(message: str) -> None:
            raise SettingsError(f"{where}: {message}")

        self._parser = make_arg_parser(FlexibleArgumentParser(exit_on_error=False))
        self._parser.error = refuse
        self._args_class = AsyncEngineArgs

    def parse(self, flags: list[str]) -> Any:
        """Return vLLM's namespace of arguments.

        Raises:
            SettingsError: If a flag is unknown or its value is wrong.
        """
        return self._parser.parse_args(flags)

    def engine_args(self, args: Any) -> Any:
        """Return the engine's part of a namespace."""
        return self._args_class.from_cli_args(args)

    def is_hybrid(self, args: Any) -> bool:
        """Whether the model has recurrent layers; reads its configuration."""
        return bool(self.engine_args(args).create_model_config().is_hybrid)
