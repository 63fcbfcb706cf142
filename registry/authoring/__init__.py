"""Help for authors of a bundle: first drafts, forms, fixes, merges, previews."""
