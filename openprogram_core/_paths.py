"""Where the state of this project lives, and what stands in its way."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HOME_VARIABLE = "OPENPROGRAM_HOME"
"""Environment variable that names the state folder."""
NO_FOLDER = f"it is no folder. Move it away, or set {HOME_VARIABLE} to a folder"
"""What is said of what `what_is_no_folder` finds."""


def state_dir() -> Path:
    """Return the state folder, absolute: ``OPENPROGRAM_HOME``, else the platform's state directory.

    Raises `ConfigurationError` when neither says where, because the user has no home directory.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    try:
        return (Path(chosen).expanduser() if chosen else _platform_state_dir()).absolute()
    except RuntimeError as error:
        from openprogram_core.errors import ConfigurationError

        raise ConfigurationError(
            Path(chosen or "~"),
            f"this user has no home directory. Set the environment variable {HOME_VARIABLE} to a folder",
        ) from error


def config_path() -> Path:
    """Return the path of ``config.toml``; raises like `state_dir`."""
    return state_dir() / "config.toml"


def recordings_dir() -> Path:
    """Return the folder of the managed recordings; raises like `state_dir`."""
    return state_dir() / "recordings"


def what_is_no_folder(folder: Path) -> Path | None:
    """Return what is no folder and stands where ``folder``, or one above it, has to be; None for nothing.

    What is not there yet is not in the way.
    """
    for path in (folder, *folder.parents):
        if os.path.lexists(path):
            return None if os.path.isdir(path) else path  # noqa: PTH112  # Path.is_dir may raise
    return None


def _platform_state_dir() -> Path:
    if sys.platform not in ("win32", "darwin"):
        # What platformdirs says too; importing it would cost a tenth of `openprogram recordings status`.
        base = Path(os.environ.get("XDG_STATE_HOME", ""))
        if not base.is_absolute():
            base = Path("~/.local/state").expanduser()
        return base / "openprogram"
    import platformdirs

    return platformdirs.user_state_path("openprogram", appauthor=False)
