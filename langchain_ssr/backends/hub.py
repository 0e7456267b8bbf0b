"""Asks the model hub once, with a time limit, before vLLM asks for minutes.

Without a network, vLLM repeats each of its questions several times, and in the end says
that the repository id is invalid.
"""

from __future__ import annotations

import os

from langchain_ssr.errors import ModelLoadError

HUB_SECONDS = 10.0
"""Longest wait for each answer of the hub."""
CONFIGS = ("config.json", "params.json")
"""Files of which vLLM needs one."""

_FOLDER = "Or give the path of a folder that holds the model."


def check_hub(repo_id: str, revision: str | None = None) -> None:
    """Check that a model is in the hub's cache on this machine, or on the hub.

    Args:
        repo_id: The model's id, `owner/name`.
        revision: A branch, tag or commit; `None` for the main branch.

    Raises:
        ModelLoadError: If there is no such model, or nobody to ask.
    """
    if os.environ.get("VLLM_USE_MODELSCOPE", "").lower() in ("true", "1"):
        return
    try:
        from huggingface_hub import HfApi, try_to_load_from_cache
        from huggingface_hub.errors import (
            HfHubHTTPError,
            HFValidationError,
            OfflineModeIsEnabled,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
    except ImportError:  # vLLM will say what is missing
        return
    for name in CONFIGS:
        if isinstance(try_to_load_from_cache(repo_id, name, revision=revision), str):
            return
    try:
        HfApi().model_info(repo_id, revision=revision, timeout=HUB_SECONDS)
    except (RepositoryNotFoundError, RevisionNotFoundError, HFValidationError):
        at = f" at revision {revision!r}" if revision else ""
        raise ModelLoadError(
            f"The model hub has no model {repo_id!r}{at}. If it is private, set "
            f"HF_TOKEN. {_FOLDER}"
        ) from None
    except HfHubHTTPError:  # busy: vLLM may have more luck
        return
    except OfflineModeIsEnabled:
        raise ModelLoadError(
            f"The model {repo_id!r} is not in the hub's cache on this machine, and "
            f"HF_HUB_OFFLINE forbids to fetch it. {_FOLDER}"
        ) from None
    except Exception as error:
        raise ModelLoadError(
            f"The model {repo_id!r} is not in the hub's cache on this machine, and the "
            f"hub cannot be reached: {error}. {_FOLDER}"
        ) from error
