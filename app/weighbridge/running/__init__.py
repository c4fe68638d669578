"""Running engines: processes, leases, and the one owner of both."""
