"""The chat-completions API as both backends speak it: pure functions."""
