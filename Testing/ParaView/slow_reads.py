"""Common functions of scripts that stop reads of a series on the emulated storage of with_slow_storage.sh."""
import json
import os


def storage(command):
    """Gives a command to the emulated storage."""
    with open(os.environ["PATCHIO_STORAGE"], "w") as file:
        file.write(command)


def past(reader):
    """Returns, for each read so far, whether it was stopped."""
    reader.UpdatePropertyInformation()
    data = reader.GetPropertyValue("IOReportData")
    return [read["cancelled"] for read in json.loads(data)["past"]] if data else []


def cells(proxy):
    return proxy.GetDataInformation().GetNumberOfCells()
