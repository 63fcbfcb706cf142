"""The tests mirror the rooms; what needs the whole product is in `system/` and `browser/`."""
