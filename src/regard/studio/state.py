"""What the routes of the studio share, and the parameters by which they get it."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from regard.studio.background import Background
from regard.studio.engines import Engines
from regard.studio.library import Library


@dataclass(frozen=True)
class Studio:
    """The runs below a folder, and what computes with them."""

    library: Library
    engines: Engines = field(default_factory=Engines)
    background: Background = field(default_factory=Background)
    tables: Background = field(default_factory=Background)
    """Answers whole tables, which may take minutes."""

    async def stop(self) -> None:
        """End every process."""
        self.background.stop()
        self.tables.stop()
        await self.engines.stop()


def find_studio(request: Request) -> Studio:
    """Return the studio of the application."""
    return request.app.state.studio


TheStudio = Annotated[Studio, Depends(find_studio)]
"""The parameter of a route that needs the studio."""
