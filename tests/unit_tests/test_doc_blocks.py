"""The examples of the documents are found, and are what they seem."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path

import pytest

from tests.doc_blocks import DOCUMENTED, at, blocks, requests_of

DOCS = Path(__file__).parents[2] / "docs"
SERVER = DOCS / "server.md"
PAGE = """\
Text.

```bash
curl localhost:8000/a -d '{
  "a": 1
}'
```

```python
print("`x` ```")
```

    ```bash
    curl indented
    ```

```bash
langchain-ssr serve
```
"""


@pytest.fixture
def page(tmp_path) -> Path:
    file = tmp_path / "page.md"
    file.write_text(PAGE)
    return file


def test_blocks_are_found_by_language(page):
    curl = "curl localhost:8000/a -d '{\n  \"a\": 1\n}'\n"
    assert blocks(page, "bash") == [curl, "langchain-ssr serve\n"]
    assert blocks(page, "python") == ['print("`x` ```")\n']
    assert requests_of(page) == [curl]


def test_an_example_asks_another_server(page):
    [code] = requests_of(page)
    assert at("127.0.0.1:9", code) == code.replace("localhost:8000", "127.0.0.1:9")


def test_the_requests_of_the_servers_page_are_json():
    requests = requests_of(SERVER)
    assert len(requests) >= 2
    for code in requests:
        assert DOCUMENTED in code
        words = shlex.split(code)
        body = json.loads(words[words.index("-d") + 1])
        assert body["messages"]
        assert isinstance(json.loads(body["vllm_xargs"]["ssr"]), dict)


def test_the_python_of_the_servers_page_asks_by_openais_client():
    script = "".join(blocks(SERVER, "python"))
    assert DOCUMENTED in script
    assert "from openai import OpenAI" in script
    assert "prediction=" in script
    ast.parse(script)


@pytest.mark.parametrize("file", sorted(DOCS.glob("*.md")), ids=lambda file: file.name)
def test_the_python_of_every_page_can_be_read(file):
    for code in blocks(file, "python"):
        ast.parse(code)
