"""Where answers come from: an engine in this process, or (later) a server."""
