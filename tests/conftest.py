from tests.browser import chromium
from tests.other_site import other_site
from tests.projects import built, project
from tests.site_build import site

__all__ = ["built", "chromium", "other_site", "project", "site"]
