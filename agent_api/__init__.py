"""Everything that machines speak over HTTP: `v1/` the agent's contract, `operator/` the pipeline's."""
