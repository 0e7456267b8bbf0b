"""Prompts from ClassEval (Du et al., "ClassEval", arXiv 2308.01861)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from benchmarks.report import BenchmarkError

PROMPT = """\
Complete the class {name} in the following Python code. Implement every method as its \
docstring says. Reply with the complete code.

```python
{skeleton}
```"""


def read_tasks(path: Path, num: int) -> dict[str, str]:
    """Read the prompts of the first `num` tasks, by task id.

    Raises:
        BenchmarkError: The file is missing, malformed or too short.
    """
    try:
        data = path.read_bytes()
        tasks = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
        prompts = {
            task["task_id"]: PROMPT.format(
                name=task["class_name"], skeleton=task["skeleton"].strip()
            )
            for task in tasks[:num]
        }
    except FileNotFoundError as error:
        raise BenchmarkError(f"{path} does not exist") from error
    except (OSError, EOFError, ValueError) as error:
        raise BenchmarkError(f"cannot read {path}: {error}") from error
    except (TypeError, KeyError, AttributeError) as error:
        raise BenchmarkError(
            f"{path} is not ClassEval: a list of objects with task_id, class_name and "
            f"skeleton is needed ({type(error).__name__}: {error})"
        ) from error
    if len(prompts) < num:
        raise BenchmarkError(f"{path} has {len(prompts)} tasks, --num asks for {num}")
    return prompts
