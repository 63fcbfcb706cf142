"""Bundles of others are checked in processes that can be ended.

A schema that explodes, or a text that is made to be slow, holds the interpreter's lock in native code, where no thread
can interrupt it: everything that this process serves would wait. So a server has processes for it, started ahead
(pool.py). Each checks one bundle at a time (process.py), and the system ends it after two seconds of its own work.
"""
