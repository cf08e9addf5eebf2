"""Routes of the studio's pages, one file per view; ``ROUTERS`` of :mod:`regard.studio.app`."""
