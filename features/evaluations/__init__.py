"""Whether an agent does the right thing with a capability: cases, and runs by a model (docs/evaluations.md)."""
