"""A failed test's report: what replay has to say stands first, before the traceback."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

_ATTRIBUTE = "_openprogram_recording_details"


class _DetailsError(Exception):
    """Carries text through pytest's own rendering."""


def explain_error(error: BaseException, details: Sequence[str]) -> None:
    """Let an error that ends a fixture carry what its recording has to say, for `put_first`."""
    if details:
        setattr(error, _ATTRIBUTE, tuple(details))


def details_of(error: BaseException) -> Sequence[str]:
    """Return what `explain_error` gave an error."""
    details: Sequence[str] = getattr(error, _ATTRIBUTE, ())
    return details


def put_first(report: pytest.TestReport, details: Sequence[str]) -> None:
    """Put ``details`` before the traceback of a failed report, but for those it shows already.

    Where there is no traceback they stand in a section of their own.
    """
    shown = str(report.longrepr)
    text = "\n".join(part for part in details if part not in shown)
    if not text:
        return
    chain = getattr(report.longrepr, "chain", None)
    if not isinstance(chain, list) or getattr(chain[-1][0], "style", "value") == "value":
        report.sections.append(("openprogram recording", text))
        return
    try:
        raise _DetailsError(text)
    except _DetailsError as error:
        first = pytest.ExceptionInfo.from_exception(error).getrepr(style="value")
    chain.insert(0, (first.reprtraceback, None, "It happened here:"))
