"""Text that both databases take.

PostgreSQL refuses U+0000, and neither database takes half of a surrogate pair; both
come in JSON escapes. They are replaced, so that no upload is lost to one character.
"""

from __future__ import annotations

_REPLACED = "\N{REPLACEMENT CHARACTER}"


def storable(text: str) -> str:
    """Return the text, with what cannot be stored replaced by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", _REPLACED)
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_REPLACED if "\ud800" <= c <= "\udfff" else c for c in text)
    return text
