"""Fetches benchmarks from the public hub, for who names `hub` in place of a file.

The hub itself makes Parquet files of public datasets, in a branch of its own. Written
from its documentation and from programs that read these datasets (READ): it was not run
against the hub.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_ssr.errors import SettingsError

HUB = Path("hub")
"""What stands for the hub where a file may be named."""
HUMANEVAL = ("openai/openai_humaneval", "openai_humaneval")
CLASSEVAL = ("FudanSELab/ClassEval", "default")
LONGPROC = "PrincetonPLI/LongProc"
_BRANCH = "refs/convert/parquet"


def hub_rows(repo_id: str, config: str) -> list[dict[str, Any]]:
    """Return the rows of a dataset's test split; the hub's cache keeps the file.

    Args:
        repo_id: The dataset, `owner/name`.
        config: Its configuration.

    Raises:
        SettingsError: If a package is missing, the hub cannot be reached, or has no
            such file.
    """
    try:
        from huggingface_hub import hf_hub_download
        from pyarrow import parquet
    except ImportError as error:
        raise SettingsError(
            "Reading benchmarks from the hub needs two packages: "
            "pip install huggingface_hub pyarrow"
        ) from error
    try:
        file = hf_hub_download(
            repo_id,
            f"{config}/test/0000.parquet",
            repo_type="dataset",
            revision=_BRANCH,
        )
        rows: list[dict[str, Any]] = parquet.read_table(file).to_pylist()
    except Exception as error:
        raise SettingsError(
            f"The dataset {repo_id!r} cannot be fetched from the hub: {error}. Name a "
            "file on this machine instead of 'hub'."
        ) from error
    return rows
