"""Statistics as tables of text and as HTML."""
