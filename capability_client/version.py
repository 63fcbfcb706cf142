"""The version of the library: of its wheel, and of `capability_client.__version__`."""

__version__ = "0.3.0"
