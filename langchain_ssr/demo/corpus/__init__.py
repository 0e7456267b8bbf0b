"""The seeded generator of the conversations that the demo model is trained on."""
