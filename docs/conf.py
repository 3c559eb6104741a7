"""Builds the documentation: ``sphinx-build -b html docs docs/_build/html``. Needs no network."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import openprogram_core

project = "OpenProgram provider runtime"
author = "the OpenProgram developers"
copyright = f"2026, {author}"
release = openprogram_core.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "openprogram_api",
    "openprogram_commands",
    "openprogram_diagrams",
    "openprogram_hooks",
    "openprogram_pytest_options",
    "openprogram_values",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3

# Docstrings put names of this project into single backticks; one that leads nowhere stays plain text.
default_role = "py:obj"
add_module_names = False
python_use_unqualified_type_names = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "OpenProgram provider runtime"
html_static_path = ["_static"]
html_css_files = ["openprogram.css"]
html_copy_source = False
html_show_sphinx = False
