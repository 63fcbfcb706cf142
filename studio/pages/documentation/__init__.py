"""The pages of `docs/` inside the product: which there are, as HTML, and found by words."""
