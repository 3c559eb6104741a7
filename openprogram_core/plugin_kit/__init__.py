"""For plugin authors: the files of a new plugin, and checks of what a plugin promised.

What a plugin's own tests use is in `openprogram_core.testing`.
"""
