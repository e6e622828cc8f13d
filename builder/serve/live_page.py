"""What `serve` adds to the pages it sends; the files of the output folder stay as they are.

HTML gets a script that listens for builds, reloads after a good one and shows the problems of a
bad one. The page's Content-Security-Policy is widened just enough to let that script work.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

EVENTS, SCRIPT = "/_live/events", "/_live/reload.js"

RELOAD = """\
(() => {
  "use strict";
  const { revision, events } = document.currentScript.dataset;
  let overlay = null;

  new EventSource(events).onmessage = (event) => {
    const state = JSON.parse(event.data);
    if (state.revision !== revision) location.reload();
    else show(state.problems);
  };

  function show(problems) {
    if (overlay) overlay.remove();
    overlay = null;
    if (!problems.length) return;
    overlay = document.createElement("div");
    overlay.id = "live-problems";
    overlay.setAttribute("role", "alert");
    overlay.style.cssText = "position:fixed;inset:0;z-index:2147483647;overflow:auto;" +
      "padding:2rem;background:#1b1b1ff2;color:#f4f1ea;font:15px/1.5 system-ui,sans-serif";
    const title = document.createElement("h1");
    title.style.cssText = "margin:0 0 1rem;font-size:1.25rem;color:#ffb38a";
    title.textContent = problems.length === 1 ? "The build has a problem"
      : `The build has ${problems.length} problems`;
    const list = document.createElement("pre");
    list.style.cssText = "white-space:pre-wrap;font:14px/1.5 ui-monospace,monospace;" +
      "background:none;color:inherit";
    list.textContent = problems.join("\\n\\n");
    overlay.append(title, list);
    document.body.append(overlay);
  }
})();
"""

_POLICY = re.compile(
    r"""(<meta\s[^>]*http-equiv="Content-Security-Policy"\s[^>]*content=")([^"]*)(")""",
    re.IGNORECASE,
)


def relaxed(policy: str) -> str:
    """Let a Content-Security-Policy allow scripts and connections of the page's own server."""
    parts = (part.split() for part in policy.split(";"))
    directives = {name: sources for name, *sources in filter(None, parts)}
    for name in ("script-src", "connect-src"):
        others = [s for s in directives.get(name, []) if s not in ("'none'", "'self'")]
        directives[name] = ["'self'", *others]
    return "; ".join(" ".join([name, *sources]) for name, sources in directives.items())


def with_reload(page: str, revision: str) -> str:
    """Return a page that listens for builds other than the one that made it."""
    page = _POLICY.sub(lambda m: m[1] + html.escape(relaxed(html.unescape(m[2]))) + m[3], page)
    script = (
        f'<script defer src="{SCRIPT}" data-revision="{revision}" data-events="{EVENTS}"></script>'
    )
    before, body, after = page.rpartition("</body>")
    return f"{before}{script}{body}{after}" if body else page + script


def substitute(problems: Iterable[str] | None) -> str:
    """Return a page for a site that has never been built; `problems` is None if it is under way."""
    title = "Building …" if problems is None else "The site could not be built"
    listed = html.escape("\n\n".join(problems or ()))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title></head><body><h1>{title}</h1><pre>{listed}</pre></body></html>"
    )
