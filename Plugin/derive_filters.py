"""Writes definitions of the filters of ParaView that PatchIO replaces: those of the installed ParaView with PatchIO's changes.

usage: derive_filters.py PVPYTHON CHANGES.xml DEFINITIONS.xml

CHANGES.xml: ReplacedFilters.xml. Prints the classes of the filters, one per line.
"""
import subprocess
import sys
import xml.etree.ElementTree as ET

# ParaView can only print a definition. The output is complete when pvpython has ended.
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


def definitions(pvpython, filters):
    """Returns ParaView's definitions of the filters, by their names."""
    names = [name for filter_ in filters for name in (filter_.get("group"), filter_.get("name"))]
    printed = subprocess.run([pvpython, "-c", PRINT, *names], check=True, stdout=subprocess.PIPE, text=True).stdout
    root = ET.fromstring(printed[printed.index("<ParaView>"):] + "</ParaView>")
    return {proxy.get("name"): proxy for proxy in root}


def is_property(element):
    return element.tag.endswith("Property") and element.get("name") is not None


def named(element, name):
    return next(child for child in element if child.get("name") == name)


def change(proxy, filter_):
    """Applies the changes of a Filter element to ParaView's definition."""
    proxy.set("class", filter_.get("class"))
    for old in proxy.findall("Documentation"):
        proxy.remove(old)
    proxy.insert(0, filter_.find("Documentation"))
    for one in filter_.findall("Set"):
        named(named(proxy, one.get("property")), one.get("domain")).set(one.get("attribute"), one.get("value"))
    for added in filter(is_property, filter_):
        # The property exists already if ParaView has loaded an installed PatchIO.
        for old in [child for child in proxy if is_property(child) and child.get("name") == added.get("name")]:
            proxy.remove(old)
        proxy.insert(1 + max(i for i, child in enumerate(proxy) if is_property(child)), added)


def main():
    pvpython, changes, path = sys.argv[1:]
    filters = ET.parse(changes).getroot()
    proxies = definitions(pvpython, filters)
    root = ET.Element("ServerManagerConfiguration")
    for filter_ in filters:
        proxy = proxies.get(filter_.get("name"))
        if proxy is None:
            sys.exit("ParaView has no proxy '%s' in the group '%s'" % (filter_.get("name"), filter_.get("group")))
        change(proxy, filter_)
        ET.SubElement(root, "ProxyGroup", name=filter_.get("group")).append(proxy)
        print(filter_.get("class"))
    ET.indent(root)
    ET.ElementTree(root).write(path, encoding="utf-8")


main()
