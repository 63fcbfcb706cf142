"""What helps somebody who writes a bundle: first drafts, forms, mends, merges, previews."""
