"""Packages that patchio uses if they are installed."""
import importlib

_DEBIAN = {"xarray": " or 'apt install python3-xarray'"}


def optional(name, user):
    """Returns the module `name`. Raises ImportError if it is missing; the message says that `user` needs the module, and what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("%s needs %s. Install it with 'python3 -m pip install %s'%s"
                          % (user, name, name, _DEBIAN.get(name, ""))) from error
