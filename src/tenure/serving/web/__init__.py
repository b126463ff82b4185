"""The pages: rendered on the server, with a little script of our own that they do not need. `mount_pages` puts them on an app."""

from __future__ import annotations

from tenure.serving.web.mounting import mount_pages as mount_pages
