"""Pure: the memory tree. Days, weeks and months of raw entries, and the root that is always loaded. No clock, no files."""
