"""What comes before a release, who reviews it and when it happens; `registry.publishing.publication` publishes."""
