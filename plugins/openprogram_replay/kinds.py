"""What a recorded call and a request must have in common to be equal: few calls are compared whole."""

from __future__ import annotations

from typing import Any, TypeAlias

from openprogram_core.comparison import ComparisonPolicy
from openprogram_core.recordings import RecordedCall

Kind: TypeAlias = tuple[str | None, str | None, int | None]


class Kinds:
    """API, model and number of messages, as far as the declared skips leave them to be compared."""

    def __init__(self, policy: ComparisonPolicy) -> None:
        self._api = policy.compares("model.api")
        self._model = policy.compares("model.id")
        self._count = policy.compares_length("context.messages")

    def of_call(self, call: RecordedCall) -> Kind:
        """Return a recorded call's kind."""
        return self._kind(call.api, call.model_id, call.message_count)

    def of_request(self, incoming: dict[str, Any]) -> Kind:
        """Return the kind of the calls that may answer a request."""
        model = incoming["model"]
        return self._kind(model.get("api"), model.get("id"), len(incoming["context"].get("messages", ())))

    def _kind(self, api: Any, model_id: Any, message_count: int) -> Kind:
        return (
            api if self._api else None,
            model_id if self._model else None,
            message_count if self._count else None,
        )
