"""The Dockerfile and the compose file hold together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVERS = ("llm-0", "llm-1")


def test_the_compose_file_builds_targets_that_exist():
    targets = set(re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.MULTILINE))
    for service in COMPOSE["services"].values():
        build = service["build"]
        assert build["target"] in targets
        assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_probed_and_has_a_key_from_outside(name):
    server = COMPOSE["services"][name]
    *_, probe = server["healthcheck"]["test"]
    assert "localhost:8000/health" in probe
    compile(probe, "probe", "exec")
    assert server["environment"]["VLLM_API_KEY"].startswith("${VLLM_API_KEY:?")
    assert "--api-key" not in str(server["command"])
    assert "--port" in server["command"]


def test_the_router_knows_every_server_and_waits_for_it():
    router = COMPOSE["services"]["router"]
    assert [f"http://{name}:8000" for name in SERVERS] == [
        word for word in router["command"] if word.startswith("http://")
    ]
    assert set(router["depends_on"]) == set(SERVERS)


def test_servers_have_a_gpu_each():
    devices = [
        COMPOSE["services"][name]["deploy"]["resources"]["reservations"]["devices"]
        for name in SERVERS
    ]
    ids = [device["device_ids"] for [device] in devices]
    assert len({*map(tuple, ids)}) == len(SERVERS)


def test_vllm_is_the_version_that_this_package_is_for():
    from langchain_ssr.backends.launch import SUPPORTED

    assert f"FROM vllm/vllm-openai:v{SUPPORTED}." in DOCKERFILE
    assert "--target gpu" in (ROOT / "docs" / "deployment.md").read_text()
