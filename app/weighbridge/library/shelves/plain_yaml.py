"""YAML out of files that are not trusted: no tags that make objects, and no references, by which a short text could
stand for an endless one.

Imported only where there is a file to read: few have one, and the parser takes ten milliseconds to be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml


class _Plain(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """As every loader does, but for references."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("alias")
        return super().compose_node(parent, index)


def read_yaml(content: str) -> Mapping[str, Any]:
    """The mapping that `content`, which the caller has bounded, holds. Raises ValueError for anything else."""
    try:
        value = yaml.load(content, _Plain)
    except (RecursionError, yaml.YAMLError) as error:
        raise ValueError(" ".join(str(error).split())[:200]) from error
    if not isinstance(value, dict):
        raise ValueError(type(value).__name__)
    return value
