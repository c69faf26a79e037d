"""Files that a page holds, as links to download them."""

from __future__ import annotations

import base64
import json
from typing import Any

__all__ = ["data_link", "text_link"]


def data_link(data: Any) -> str:
    """JSON data as a link that holds it."""
    return text_link(json.dumps(data, indent=1, allow_nan=False), "application/json")


def text_link(text: str, kind: str = "text/plain;charset=utf-8") -> str:
    """A text as a link that holds it."""
    return f"data:{kind};base64," + base64.b64encode(text.encode()).decode()
