"""`/metrics`: counters and state of this process, in Prometheus' exposition format.

Nothing is counted for the scrape's sake on the hot path but one integer; the state of memory and database is read at
each scrape. Each process has its own metrics and is its own target.
"""
