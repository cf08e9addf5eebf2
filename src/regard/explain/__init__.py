"""Explanation: traces of attention, attributions, tests of their faithfulness, and pictures.

The package is callable: ``regard.explain(run, text)`` works whether or not a module of it was
imported, which binds the name ``regard.explain`` to the package.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.explain.explanation import Explanation


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **named: Any) -> "Explanation":  # noqa: ANN401
        """Call :func:`regard.explain.model.explain`."""
        from regard.explain.model import explain  # imports torch, which the package does not

        return explain(*arguments, **named)


sys.modules[__name__].__class__ = _CallablePackage
