"""The page Discover: what there is on the Hub, each choice weighed before a weight is fetched."""
