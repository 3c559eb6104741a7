"""What a plugin gives to comparison: verdicts on a field, and fields to skip."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FieldVerdict(Enum):
    """A ``compare_field`` hook's answer on two values that differ."""

    SKIP = "skip"
    """The difference does not count, nor does any below it."""
    DIFFERENT = "different"
    """The difference counts, as it stands; nothing below is looked at."""


@dataclass(frozen=True)
class FieldSkip:
    """A field that differs on every run and is not compared, nor anything below it.

    ``field``: a bare name (``timestamp``) anywhere, or a path from the request's root with ``[*]`` for every
    index (``context.messages[*].id``). ``reason`` is shown in the report of a mismatch.

    A bare name that a plugin declares reaches, in a request, the fields of messages, contents, tools, model
    and options, and headers, and not what others name: tool schemas, arguments, metadata, bodies, opaque
    data. A path reaches everywhere, and so does a name that a person gives as ``skip``.
    """

    field: str
    reason: str = ""
