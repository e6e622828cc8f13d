"""`::: digests`: what identifies the weights of this build."""

from __future__ import annotations

from builder.blocks.directive import Argument, Body, Context, Directive, Options

NAME = "digests"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(_directive: Directive, context: Context) -> str:
    """Return the digest of the weights at each stage."""
    items = "".join(
        f"<div><dt>{context.html(f'figure.stage_{stage}')}</dt>"
        f'<dd><code class="digest" data-stage="{stage}">{digest}</code></dd></div>'
        for stage, digest in context.numbers.snapshot.manifest["weights_sha256"].items()
    )
    return f'<dl class="digest-list">{items}</dl>\n'
