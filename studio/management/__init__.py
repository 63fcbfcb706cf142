"""Commands of the web server."""
