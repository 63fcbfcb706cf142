"""An operator's decision that a finding does not block publishing, for a time: a step of every publish."""
