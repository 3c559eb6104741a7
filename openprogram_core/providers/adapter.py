"""The door for wire APIs over a vendor's SDK: run a call, name its failures, keep its clients.

It stands apart from `openprogram_core.providers`, because only adapters need it and it imports asyncio.
"""

from openprogram_core.providers.adapter_clients import LoopClients
from openprogram_core.providers.adapter_errors import (
    clean_message,
    error_from_body,
    error_from_exception,
    kind_of_status,
    provider_error,
    retry_after,
)
from openprogram_core.providers.adapter_request import (
    NOT_RUN,
    is_from_same_model,
    is_own,
    merge_body,
    merge_headers,
    read_compat,
    secret_headers,
    sendable,
    settle_tool_calls,
    visible_content,
)
from openprogram_core.providers.adapter_run import WireCall, run_wire_call
from openprogram_core.providers.adapter_values import count_in, list_in, object_in, objects_in, text_in
from openprogram_core.providers.stream import with_credentials

__all__ = [
    "NOT_RUN",
    "LoopClients",
    "WireCall",
    "clean_message",
    "count_in",
    "error_from_body",
    "error_from_exception",
    "is_from_same_model",
    "is_own",
    "kind_of_status",
    "list_in",
    "merge_body",
    "merge_headers",
    "object_in",
    "objects_in",
    "provider_error",
    "read_compat",
    "retry_after",
    "run_wire_call",
    "secret_headers",
    "sendable",
    "settle_tool_calls",
    "text_in",
    "visible_content",
    "with_credentials",
]
