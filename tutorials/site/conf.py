"""Settings of the documentation site; ``build.py`` beside this file makes what it reads.

Sphinx, because it reads docstrings, checks that every reference resolves, and makes a search that
needs no server; MyST-NB, because it shows the stored notebooks as they are and reads Markdown.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "obliquetd"
author = "the obliquetd developers"
project_copyright = "the obliquetd developers; MIT License"
version = release = version_of("obliquetd")
language = "en"
smartquotes = False  # they make one dash of the two that begin an option

extensions = ["myst_nb", "sphinx.ext.autodoc", "formulas", "references", "docstrings"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
suppress_warnings = []
nitpicky = True
nitpick_ignore = []

# Notebooks are shown as they were executed, never run again.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

# Docstrings are numpydoc; their types are English, and docstrings.py makes them links.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
add_module_names = False
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "obliquetd"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # a page from a file may not read the others
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"
