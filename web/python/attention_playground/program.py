"""Where `attn` is, which computes and draws."""
import functools
import os
import shutil
from importlib import metadata


def attn():
    """The one that the variable ATTN names, else the one that came with this package, else the first on the PATH; None where there is none."""
    return os.environ.get("ATTN") or own() or shutil.which("attn")


@functools.lru_cache(maxsize=1)
def own():
    """The program among the files that pip has installed; None where this platform has none."""
    try:
        files = metadata.files("attention-playground") or []
    except metadata.PackageNotFoundError:
        return None
    found = (os.path.realpath(one.locate()) for one in files if one.name in ("attn", "attn.exe"))
    return next((path for path in found if os.access(path, os.X_OK)), None)
