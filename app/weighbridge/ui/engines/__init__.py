"""The page Engines: builds of engines, what they see of this machine, and how others come."""
