"""Matching: which capability a message asks for, and which ones a search finds (docs/matching.md)."""

import os

# Read when numpy is loaded, which only this package does. A message is too small to share among threads: with two of
# them on two busy cores a match took 24 ms instead of 9.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Read when onnxruntime is loaded. Its packages for Linux and macOS write a device id into the home folder and send what
# they measure to their maker otherwise (onnxruntime#27379); nothing leaves this machine without being configured.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
