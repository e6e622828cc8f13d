from tests.browser import chromium
from tests.projects import built, project
from tests.site_build import site

__all__ = ["built", "chromium", "project", "site"]
