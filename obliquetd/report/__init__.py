"""Reports as single HTML files."""

from obliquetd.report.page import claims_page, model_page, write_page

__all__ = ["claims_page", "model_page", "write_page"]
