"""Settings that admins choose on pages: the model, data, mail."""
