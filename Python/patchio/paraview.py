"""Loads the reader of this package into any ParaView.

    from paraview.simple import *
    import patchio.paraview
    patchio.paraview.load(globals())
    reader = PatchIOPythonReader(FileName="dumps.visit")

In the GUI, run the same lines in View > Python Shell, or choose the file `patchio.paraview.PLUGIN` in Tools > Manage Plugins.
"""
import inspect
import os

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "paraview_reader.py")


def load(ns=None):
    """Loads the plugin in the client and on all server ranks. A server on another machine needs this package at the same path.

    ns      dict that receives the function PatchIOPythonReader, such as globals()
    """
    from paraview.simple import LoadPlugin, servermanager
    # ParaView 5.11 needs a function that Python 3.11 has removed. A pvserver of such a ParaView cannot load the plugin.
    if not hasattr(inspect, "getargspec"):
        inspect.getargspec = inspect.getfullargspec
    LoadPlugin(PLUGIN, remote=True, ns=ns)
    if servermanager.ActiveConnection.IsRemote():
        LoadPlugin(PLUGIN, remote=False, ns=ns)
