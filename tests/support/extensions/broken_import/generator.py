"""Cannot be imported: a module is missing, or the file has an error if FIXTURE_IMPORT says so."""

import os

if os.environ.get("FIXTURE_IMPORT") == "error":
    raise ValueError("not today")

import hotbunk_no_such_package.part  # noqa: E402,F401
