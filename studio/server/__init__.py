"""How requests reach the WSGI application: an RSGI application that granian's event loop calls."""
