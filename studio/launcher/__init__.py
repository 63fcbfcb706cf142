"""What `run.py` does before and around Django. Standard library only: nothing is installed yet.

`commands` reads the command line, `virtualenv` makes `.venv`, `site_setup` prepares data directory and database,
`readiness_stamp` records that they are prepared, `serving` starts the product, `supervisor` and `processes` restart and
stop what was started, `test_runner` runs the suite, `lockfiles` refreshes the locked requirements, `console` prints.
"""
