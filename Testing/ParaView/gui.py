"""The script that gui.sh runs inside the ParaView GUI. It checks what users see when they open data, with pauses in which the
windows settle.

Environment: PATCHIO_PLUGIN; PATCHIO_DATASET, the dumps.visit of a series; PATCHIO_SCRIPT, open_in_gui.py; PATCHIO_RESULT,
the file to write.
"""
import array
import os
import shutil
import subprocess
import tempfile

from gui_steps import expect, finish, has_xdotool, run, take_keyboard, xdotool
from paraview.simple import *


def names():
    return [name for name, _ in GetSources()]


def shown(reader):
    display = Show(reader, GetActiveView())
    ResetCamera()
    Render()
    return display.Representation, display.ColorArrayName[1]


def open_series():
    """Opens the first dump of the series, which grows later."""
    grow(1)
    readers.append(OpenDataFile(os.path.join(scratch, "dumps.visit")))
    expect(shown(readers[0]) == ("Surface", "uval"), "the first picture: %s", shown(readers[0]))


def look_at_report():
    report = readers[0].SMProxy.GetProperty("IOReport").GetElement(0) or ""
    # Only the widget has requested this text from the server, so the widget works.
    if "Patches: " not in report:
        return False
    picture = os.path.splitext(os.environ["PATCHIO_RESULT"])[0] + ".png"
    try:
        subprocess.run(["import", "-window", "root", picture], timeout=20, check=False)
    except FileNotFoundError:
        print("no picture of the window: no program 'import' (ImageMagick)")
    return True


def look_at_volumes():
    """Checks the representation Volume with all levels, with one level, and with all levels again, and its colours."""
    display = Show(readers[0], GetActiveView())
    found = []
    for levels, choose in (([0, 99], True), ([2, 2], True), ([0, 99], False)):
        readers[0].LevelRange = levels
        Render()
        if choose:
            display.SetRepresentationType("Surface")
            display.SetRepresentationType("Volume")
        Render()
        found.append(display.Representation.GetData())
    found.append(display.ColorArrayName[1])
    expect(found == ["Surface", "Volume", "Surface", "uval"], "volumes are shown as %s", found)
    image = VolumeOfPatches(Input=readers[0])
    found = shown(image)
    expect(found == ("Volume", "uval"), "Volume Of Patches is shown as %s", found)
    expect(image.CellArrays[:] == ["uval"], "Volume Of Patches takes the arrays %s", image.CellArrays[:])
    Delete(image)
    for blocks in ("Overlapping AMR", "Merged"):    # another type of data while it is displayed
        readers[0].Blocks = blocks
        Render()
        expect(display.Representation == "Surface", "%s is shown as %s", blocks, display.Representation)


def press_reload():
    """Checks that F5 finds new dumps without a question, which would stop the next steps."""
    if not has_xdotool():
        print("skipped: F5, as there is no program 'xdotool'")
        return
    grow(2)
    SetActiveSource(readers[0])
    take_keyboard()
    xdotool("key", "71")    # the keycode of F5, because xdotool of Debian testing finds another key by name


def look_at_steps():
    return len(readers[0].TimestepValues) == 2 or not has_xdotool()


def shown_step():
    return readers[0].GetDataInformation().GetFieldDataInformation().GetArrayInformation("step").GetComponentRange(0)[0]


def follow():
    readers[0].Follow = 1
    grow(3)


def look_at_followed():
    """Checks that a user at the first step stays there."""
    if len(readers[0].TimestepValues) < 3:
        return False
    scene = GetAnimationScene()
    expect(shown_step() == 0 and scene.AnimationTime == 0, "the first step is left for %g", scene.AnimationTime)
    expect(scene.EndTime == readers[0].TimestepValues[2], "the time controls end at %g", scene.EndTime)
    scene.AnimationTime = readers[0].TimestepValues[2]
    expect(shown_step() == 32, "step %d is shown, not the last one", shown_step())
    grow(4)
    return True


def look_at_last():
    """Checks that a user at the last step moves on to the new one, which may take a moment."""
    if len(readers[0].TimestepValues) < 4 or shown_step() != 48:
        return False
    time = GetAnimationScene().AnimationTime
    expect(time == readers[0].TimestepValues[3], "step 48 is shown at time %g", time)
    readers[0].Follow = 0
    return True


def name_by_folder():
    """Registers a reader under the name of its file, like File > Open."""
    dump = os.path.join(scratch, dumps[0].strip())
    readers.append(PatchReader(registrationName=os.path.basename(dump), FileName=[dump]))
    expect(os.path.basename(os.path.dirname(dump)) in names(), "names in the pipeline browser: %s", names())


def write_grads(name, variables):
    """Writes 2 x 2 points on up to 2 levels. variables: number of levels of each variable; 0: on the surface. Returns the
    descriptor."""
    path, levels = os.path.join(scratch, name), max(1, *variables.values())
    with open(path + ".ctl", "w") as file:
        file.write("dset ^%s.dat\nundef -999\nxdef 2 linear 0 1\nydef 2 linear 0 1\nzdef %d levels %s\ntdef 1 linear 18z27feb2017 6hr\nvars %d\n%s\nendvars\n" %
                   (name, levels, ("1000", "1000 500")[levels - 1], len(variables), "\n".join("%s %d 99 made" % variable for variable in variables.items())))
    with open(path + ".dat", "wb") as file:
        array.array("f", range(4 * sum(max(1, count) for count in variables.values()))).tofile(file)
    return path + ".ctl"


def show_date():
    readers.append(OpenDataFile(write_grads("tiny", {"ps": 0})))
    expect(shown(readers[-1]) == ("Surface", "ps"), "the first picture of GrADS: %s", shown(readers[-1]))


def labels():
    """Returns the visible representations of the view that are not part of the pipeline, as proxies."""
    hidden = GetActiveView().SMProxy.GetProperty("HiddenRepresentations")
    found = [hidden.GetProxy(i) for i in range(hidden.GetNumberOfProxies())]
    return [text for text in found if text.GetXMLName() == "TextSourceRepresentation" and
            servermanager.vtkSMPropertyHelper(text, "Visibility").GetAsInt()]


def look_at_date():
    if not labels():
        return False
    annotation = servermanager._getPyProxy(labels()[0].GetProperty("Input").GetProxy(0))
    text = servermanager.Fetch(annotation).GetRowData().GetAbstractArray(0).GetValue(0)
    expect(text == "2017-02-27 18:00", "the date in view is %s", text)
    readers[-1].ShowDate = 0
    readers[-1].UpdatePipeline()
    Hide(readers[-1], GetActiveView())
    return True


def look_at_no_date():
    """Checks that the date disappears with its reader."""
    if labels():
        return False
    Delete(readers.pop())
    return True


def open_by_dev():
    """Opens data like ./dev gui. The first array is on another grid than the displayed one."""
    path = write_grads("two", {"ps": 0, "t": 2})
    os.environ["PATCHIO_DATASET"] = path
    with open(os.environ["PATCHIO_SCRIPT"]) as file:
        exec(file.read(), {})
    readers.append(FindSource("two.ctl"))
    display = GetDisplayProperties(readers[-1], GetActiveView())
    bar = GetScalarBar(GetColorTransferFunction("t"), GetActiveView())
    expect(display.ColorArrayName[1] == "t" and bar.Visibility, "./dev gui colours by %s", display.ColorArrayName[1])
    readers[-1].Grids = "All"
    SaveData(os.path.join(scratch, "two.pio"), proxy=readers[-1])
    Delete(readers.pop())


def open_container():
    """Checks that the panel offers the same choices for a container as for the original data. ParaView's command line opens a
    container by its log."""
    for path in ("two.pio", "two.pio/index"):
        reader = OpenDataFile(os.path.join(scratch, path))
        expect(reader and reader.GetXMLName() == "PatchReader", "%s: no reader, or another one", path)
        form, grids = [reader.SMProxy.GetProperty(name) for name in ("LikeFormat", "GridNames")]
        names = [grids.GetElement(i) for i in range(grids.GetNumberOfElements())]
        expect(names == ["Automatic", "levels", "surface", "All"], "grids of the container: %s", names)
        expect(form.GetElement(0) == "GrADS", "the panel of the container is that of %s", form.GetElement(0))
        Delete(reader)


def reload_with_other_arrays():
    readers.append(OpenDataFile(write_grads("arrays", {"t": 0, "u": 0})))
    shown(readers[-1])
    write_grads("arrays", {"u": 0, "v": 0, "w": 0})
    ReloadFiles(readers[-1])
    Render()


def look_at_new_arrays():
    """Checks that the client's property, which the panel shows, gets the new names."""
    if readers[-1].PointArrayStatus[:] != ["t", "u", "v", "w"]:
        return False
    Delete(readers.pop())
    return True


def all_is_well():
    cells = readers[0].GetDataInformation().GetNumberOfCells()
    finish("%s: %d cells\n" % ("passed" if cells > 0 else "FAILED", cells))


def grow(count):
    source = os.path.dirname(os.environ["PATCHIO_DATASET"])
    for line in dumps[:count]:
        folder = os.path.dirname(line)
        shutil.copytree(os.path.join(source, folder), os.path.join(scratch, folder), dirs_exist_ok=True)
    with open(os.path.join(scratch, "dumps.visit"), "w") as file:
        file.writelines(dumps[:count])


scratch = tempfile.mkdtemp()
readers = []
with open(os.environ["PATCHIO_DATASET"]) as series:
    dumps = series.readlines()


def begin():
    LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())
    return GetActiveViewOrCreate("RenderView")


run(begin, [open_series, look_at_report, look_at_volumes, press_reload, look_at_steps, follow, look_at_followed, look_at_last, name_by_folder,
            show_date, look_at_date, look_at_no_date, reload_with_other_arrays, look_at_new_arrays, open_by_dev, open_container, all_is_well],
    700, 20)
