"""The playground: what an agent would make of a message, without a model and with one."""
