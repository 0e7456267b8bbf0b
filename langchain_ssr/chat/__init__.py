"""The terminal chat of `langchain-ssr chat`."""
