"""Matching: which capability a message asks for, and which ones a search finds (docs/matching.md)."""

import os

# Read when onnxruntime is loaded. Its packages for Linux and macOS write a device id into the home folder and send what
# they measure to their maker otherwise (onnxruntime#27379); nothing leaves this machine without being configured.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
