"""What a report advises, by what happened, in the words of the place where replay was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from openprogram_core.comparison import Finding, Findings, any_index_path

MOST_SKIPS = 3
"""More fields than these that differ are another request, and no fields that differ on every run."""

_NEVER_SKIPPED = frozenset(
    {
        *("model", "model.api", "model.id", "model.provider", "context", "context.messages"),
        *("context.messages[*]", "context.messages[*].content[*]", "context.tools", "options"),
    }
)
"""A skip of these would compare next to nothing, or says that another model is the same."""

_KINDS = (".role", ".type")
_TEXTS = ("context.system_prompt", "].content", "].text", "].thinking", ".description")


@dataclass(frozen=True)
class ReplayWording:
    """How a user asks for what a report advises, where this replay was asked for.

    ``skip`` holds one ``{}``, in whose place comes a list of skips as Python writes it. ``any_order`` asks
    for that order. ``missing`` follows on the news that there is no such recording, with its path in the
    place of ``{}``. ``closing`` is the last line of every report. Empty texts are left out.
    """

    skip: str = "replaying(..., skip={})"
    any_order: str = 'replaying(..., order="any-order")'
    missing: str = "Record it first: with recording({})"
    closing: str = ""


ONE_MORE_CALL = "If one more call is meant, record again."
NOT_MADE = "If they are left out on purpose, record again."
READ_PAST = "The recorded run left the stream here. If reading on is meant, record again."


def advise_order(wording: ReplayWording) -> Iterator[str]:
    """The request is equal to a later call."""
    yield f"If the order may change from run to run: {wording.any_order}"
    yield "or give each strand of the program a lane of its own: call_lane(), at recording and at replay."
    yield "If the change is meant, record again."


def advise_lane(lane: str | None) -> Iterator[str]:
    """The request is equal to a call of another lane, ``lane``."""
    place = "outside every lane" if lane is None else f"in that lane: with call_lane({lane!r})"
    yield f"Make the call {place}. If the change is meant, record again."


def advise_new_lane(in_lane: str) -> Iterator[str]:
    """The recording knows the lane not at all."""
    yield f"The recording has no call {in_lane}. Name the lane as it was recorded, or record again."


def advise_fields(findings: Findings, wording: ReplayWording) -> Iterator[str]:
    """Fields differ from those of the call that was expected."""
    yield "If the change is meant, record again."
    skippable = [finding for finding in findings.found if _is_skippable(finding)]
    paths = list(dict.fromkeys(any_index_path(finding.field_path) for finding in skippable))
    if not paths or len(paths) > MOST_SKIPS or findings.more:
        return
    skips = wording.skip.replace("{}", f"[{', '.join(map(_quoted, paths))}]", 1)
    if paths == ["model.base_url"]:
        yield f"If the address differs from run to run, skip it: {skips}"
        return
    if len(paths) > 1:
        yield f"If these fields differ on every run, skip them: {skips}"
    else:
        yield f"If the field differs on every run, skip it: {skips}"
    if any(
        type(finding.recorded) is str and any_index_path(finding.field_path).endswith(_TEXTS)
        for finding in skippable
    ):
        yield "That leaves out all such texts; a plugin's compare_field can say which part of them counts."


def _is_skippable(finding: Finding) -> bool:
    # What came, went or moved in a list would take the whole list along.
    if finding.kind not in ("changed", "added", "removed"):
        return False
    path = any_index_path(finding.field_path)
    if finding.kind == "removed" and path.endswith("[*]"):
        return False
    return path not in _NEVER_SKIPPED and not path.endswith(_KINDS)


def _quoted(path: str) -> str:
    return repr(path) if '"' in path or "\\" in path else f'"{path}"'
