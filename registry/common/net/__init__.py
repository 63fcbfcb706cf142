"""HTTP to other hosts, with private addresses refused."""
