"""Commands of those who run a site, and of those who ask one."""
