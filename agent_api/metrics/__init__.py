"""`/metrics`: what this process has done and what it holds, in Prometheus' exposition format.

Nothing is counted for the scrape's sake on the hot path but one integer; what memory and database hold is read when
somebody asks. Each process has its own figures and is its own target.
"""
