"""What a bundle is: strict reading, locations in its files, edits, digests and archives. No database."""
