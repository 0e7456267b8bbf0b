"""What `langchain-ssr demo` shows."""
