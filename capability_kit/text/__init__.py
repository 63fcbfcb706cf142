"""Words, stems, triggers and safe text."""
