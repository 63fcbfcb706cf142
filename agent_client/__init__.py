"""What an agent runtime imports: digest, coercion and, with time, session and prompt. Knows nothing of Django."""
