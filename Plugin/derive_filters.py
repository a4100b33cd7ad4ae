"""Writes the XML definitions of the filters of ParaView that PatchIO replaces, from the installed ParaView and PatchIO's changes.

usage: derive_filters.py PVPYTHON CHANGES.xml DEFINITIONS.xml

Reads the changes from CHANGES.xml (ReplacedFilters.xml) and writes DEFINITIONS.xml. Prints the classes of the filters, one per line.
"""
import subprocess
import sys
import xml.etree.ElementTree as ET

# A program for pvpython, because ParaView can only print definitions. The output is complete when pvpython has ended.
PRINT = """
import sys
from paraview import servermanager, simple
print("<ParaView>", flush=True)
definitions = servermanager.vtkSMProxyManager.GetProxyManager().GetActiveSessionProxyManager().GetProxyDefinitionManager()
for group, name in zip(*[iter(sys.argv[1:])] * 2):
    found = definitions.GetProxyDefinition(group, name, False)
    if found:
        found.PrintXML()
"""


def read_definitions(pvpython, filters):
    """Returns ParaView's definitions of the filters as {name: element}. filters: the elements of CHANGES.xml."""
    names = [name for filter_ in filters for name in (filter_.get("group"), filter_.get("name"))]
    printed = subprocess.run([pvpython, "-c", PRINT, *names], check=True, stdout=subprocess.PIPE, text=True).stdout
    root = ET.fromstring(printed[printed.index("<ParaView>"):] + "</ParaView>")
    return {proxy.get("name"): proxy for proxy in root}


def is_property(element):
    return element.tag.endswith("Property") and element.get("name") is not None


def child_named(element, name):
    """Returns the first child of `element` with this name. Raises StopIteration if no child has this name."""
    return next(child for child in element if child.get("name") == name)


def apply_changes(proxy, filter_):
    """Applies the changes of a Filter element of CHANGES.xml to ParaView's definition of the filter."""
    proxy.set("class", filter_.get("class"))
    for old in proxy.findall("Documentation"):
        proxy.remove(old)
    proxy.insert(0, filter_.find("Documentation"))
    for setting in filter_.findall("Set"):
        child_named(child_named(proxy, setting.get("property")), setting.get("domain")).set(setting.get("attribute"), setting.get("value"))
    for added in filter(is_property, filter_):
        # The property exists already if ParaView has loaded an installed PatchIO.
        for old in [child for child in proxy if is_property(child) and child.get("name") == added.get("name")]:
            proxy.remove(old)
        proxy.insert(1 + max(i for i, child in enumerate(proxy) if is_property(child)), added)


def main():
    pvpython, changes, path = sys.argv[1:]
    filters = ET.parse(changes).getroot()
    proxies = read_definitions(pvpython, filters)
    root = ET.Element("ServerManagerConfiguration")
    for filter_ in filters:
        proxy = proxies.get(filter_.get("name"))
        if proxy is None:
            sys.exit("ParaView has no proxy '%s' in the group '%s'. Set PATCHIO_PVPYTHON to the pvpython of the ParaView for which you build "
                     "PatchIO." % (filter_.get("name"), filter_.get("group")))
        apply_changes(proxy, filter_)
        ET.SubElement(root, "ProxyGroup", name=filter_.get("group")).append(proxy)
        print(filter_.get("class"))
    ET.indent(root)
    ET.ElementTree(root).write(path, encoding="utf-8")


main()
