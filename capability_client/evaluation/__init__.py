"""Does an agent do the right thing with a capability? Cases, a model that plays them, and a judgment by rules."""
