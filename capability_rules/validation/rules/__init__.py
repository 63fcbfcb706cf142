"""The rules over each file of a bundle, and between them."""
