"""What a module of this package must define to be a block, or a role."""

from __future__ import annotations

from typing import Protocol

from builder.blocks.directive import Argument, Body, Context, Directive, Options, Role


class Block(Protocol):
    """What a module in `builder/blocks` must define to be a block."""

    @property
    def NAME(self) -> str: ...  # noqa: D102, N802 - a module's constant
    @property
    def ARGUMENT(self) -> Argument: ...  # noqa: D102, N802
    @property
    def BODY(self) -> Body: ...  # noqa: D102, N802
    @property
    def OPTIONS(self) -> Options: ...  # noqa: D102, N802

    def render(self, directive: Directive, context: Context) -> str:
        """Return the block's HTML, or raise BlockError or AddressError."""


class InlineBlock(Protocol):
    """What a module in `builder/blocks` must define to be a role."""

    @property
    def NAME(self) -> str: ...  # noqa: D102, N802
    @property
    def OPTIONS(self) -> tuple[str, ...]: ...  # noqa: D102, N802

    def render(self, role: Role, context: Context) -> str:
        """Return the role's HTML, or raise BlockError or AddressError."""
