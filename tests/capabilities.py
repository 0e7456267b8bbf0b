"""What `ChatSSR` can do, for LangChain's standard tests."""

from __future__ import annotations


class Capabilities:
    """Flags of the standard tests, the same with and without an engine."""

    @property
    def has_tool_calling(self) -> bool:
        return True

    @property
    def has_tool_choice(self) -> bool:
        return True

    @property
    def has_structured_output(self) -> bool:
        return True

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def returns_usage_metadata(self) -> bool:
        return True
