"""Values of the environment, read with the standard library alone where the launcher needs them."""
