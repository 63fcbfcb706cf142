"""Sessions in agent frameworks, each with its own extra: `pip install capability-client[pydantic-ai]`.

Every adapter gives the framework prompt and tools again before each step of the model, and maps what waits
for a person to the framework's own way of asking.
"""
