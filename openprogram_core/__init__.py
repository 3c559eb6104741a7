"""Record and replay LLM provider calls at the provider boundary.

``hookimpl`` marks a plugin's functions, `initialize_provider_runtime` starts the runtime once a process,
`OpenProgramError` is the root of every error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openprogram_core.errors import OpenProgramError

if TYPE_CHECKING:
    from openprogram_core._runtime import ProviderRuntimeSnapshot, initialize_provider_runtime
    from openprogram_core.hookspecs import hookimpl

__version__ = "0.1.0"

__all__ = [
    "OpenProgramError",
    "ProviderRuntimeSnapshot",
    "__version__",
    "hookimpl",
    "initialize_provider_runtime",
]


def __getattr__(name: str) -> Any:
    # Loaded at first use: `openprogram recordings status` must not pay for pluggy.
    if name == "hookimpl":
        from openprogram_core.hookspecs import hookimpl

        return hookimpl
    if name in ("initialize_provider_runtime", "ProviderRuntimeSnapshot"):
        from openprogram_core import _runtime

        return getattr(_runtime, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
