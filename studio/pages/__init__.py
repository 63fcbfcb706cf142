"""The pages of the Studio: addresses, permissions, forms and views."""
