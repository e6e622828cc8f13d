from tests.browser import chromium
from tests.site_build import site

__all__ = ["chromium", "site"]
