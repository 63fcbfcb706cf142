"""Who is told of what happens here: webhooks and letters to members."""
