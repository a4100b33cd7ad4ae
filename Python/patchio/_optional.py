"""Packages that patchio uses if they are installed."""
import importlib

_DEBIAN = {"xarray": " or 'apt install python3-xarray'"}


def import_optional(name, needed_by):
    """Imports and returns the module `name`. Raises ImportError if the module is missing. The message names the function `needed_by` and
    says how to install the module."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("%s needs %s. Install it with 'python3 -m pip install %s'%s"
                          % (needed_by, name, name, _DEBIAN.get(name, ""))) from error
