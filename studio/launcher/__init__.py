"""What `run.py` does before and around Django. Standard library only: nothing is installed yet.

`commands` reads the command line, `installing` makes `.venv`, `serving` starts the product, `processes` holds and
stops what was started, `prepared` remembers that there is nothing to prepare, `testing` runs the suite, `locking`
refreshes the locked requirements, `console` prints.
"""
