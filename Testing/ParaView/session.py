"""Tests events of a session: changing files, choices of arrays and levels, saved states.

usage: PATCHIO_PVBATCH_MODE=root Testing/ParaView/pvbatch.sh NP session.py DATA SCRATCH
"""
import json
import os
import shutil
import sys
import time

from paraview.simple import *

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), *folder) for folder in ((), ("..", "Formats", "AMReX"))]
from leaves import items_of  # noqa: E402
from on_ranks import output_of, report_of, require, said_by  # noqa: E402
from plotfile_writer import tiles, write_plotfile  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, scratch = sys.argv[1:3]


def cells(source):
    return source.GetDataInformation().GetNumberOfCells()


def copy_series(name, steps):
    """Makes a copy of linadv_3d with its first dumps only."""
    target, source = os.path.join(scratch, name), os.path.join(data, "linadv_3d")
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    with open(os.path.join(source, "dumps.visit")) as file:
        lines = file.readlines()[:steps]
    for line in lines:
        shutil.copytree(os.path.join(source, os.path.dirname(line)), os.path.join(target, os.path.dirname(line)))
    with open(os.path.join(target, "dumps.visit"), "w") as file:
        file.writelines(lines)
    return os.path.join(target, "dumps.visit")


def check_reload_after_errors():
    """Checks that data that are missing for some time, also at a Reload Files, are shown again after the next Reload Files."""
    path = copy_series("gone", 3)
    folder = os.path.dirname(path)
    reader, view = PatchReader(FileName=[path]), CreateView("RenderView")
    times = reader.TimestepValues[:]
    view.ViewTime = times[0]
    Show(reader, view)
    Render(view)
    require(cells(reader) > 0, "no cells at first")

    def look_away():
        os.rename(folder, folder + ".away")
        view.ViewTime = times[1]
        Render(view)
        ReloadFiles(reader)
        Render(view)

    said_by(look_away)
    require(cells(reader) == 0, "%d cells of data that are gone", cells(reader))
    os.rename(folder + ".away", folder)
    ReloadFiles(reader)
    Render(view)
    require(cells(reader) > 0, "no cells after Reload Files, though the data are there again")
    Delete(reader)
    Delete(view)


def check_reload_of_other_arrays():
    """Checks that new arrays are read, and that selected arrays that have disappeared are reported once."""
    path, domain = os.path.join(scratch, "plt_other"), ((0, 0), (7, 7))
    write_plotfile(path, domain, [tiles(*domain, (4, 4))], names=["a", "b"])
    reader = PatchReader(FileName=[path])
    reader.UpdatePipeline()
    write_plotfile(path, domain, [tiles(*domain, (4, 4))], names=["b", "c"])
    def reload():
        ReloadFiles(reader)
        reader.UpdatePipeline()
        reader.LevelRange = [0, 0]
        reader.UpdatePipeline()

    said = said_by(reload)
    require(sorted(reader.CellData.keys()) == ["b", "c"], "arrays %s after Reload Files", reader.CellData.keys())
    require(said.count("no cell array 'a'") == 1, "that 'a' is gone is told so: %s", said)
    Delete(reader)


def check_wrong_choices():
    """Checks that choices without data are reported."""
    reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"])
    reader.UpdatePipeline()
    image = VolumeOfPatches(Input=reader, CellArrays=["uval", "uvla"], PointArrays=[])
    text = said_by(image.UpdatePipeline)
    require(text.count("no cell array 'uvla'. The cell arrays are: ") == 1 and "'uval'" in text, "Volume Of Patches says: %s", text)
    require(image.CellData.keys() == ["uval"], "the image has %s", image.CellData.keys())
    Delete(image)
    reader.Region = "Plane"
    for normal, word in (([0, 0, 0], "The normal of the region's plane is (0, 0, 0)"), ([0, float("nan"), 1], "The normal of the region is (0, nan, 1)")):
        reader.RegionNormal = normal
        text = said_by(reader.UpdatePipeline)
        require(word in text and cells(reader) == 0, "the normal %s: %d cells, %s", normal, cells(reader), text)
    reader.RegionNormal = [0, 0, 1]
    reader.RegionOrigin = [0.3, 0.3, 0.3]
    reader.UpdatePipeline()
    require(cells(reader) > 0, "no cells with a plane that is right")
    Delete(reader)


def check_time():
    reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"])
    times = reader.TimestepValues[:]
    before_second = 0.5 * (times[0] + times[1])
    steps = []
    for moment in (times[0] - 1, times[0], before_second, times[1], times[3] + 1):
        reader.UpdatePipeline(moment)
        steps.append(int(reader.FieldData["step"].GetRange(0)[0]))
    require(steps == [0, 0, 0, 16, 48], "steps %s", steps)
    Delete(reader)


def check_files():
    """Checks that other files change the variables, and that several files are sorted, each once."""
    reader = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"])
    reader.UpdatePipeline()
    reader.FileName = [data + "/linadv_3d/dumps.visit"]
    reader.UpdatePipeline()
    offered = [list(reader.GetProperty(name).GetData() or [])[::2] for name in ("CellArrayInfo", "PointArrayInfo")]
    require(offered == [["uval"], []], "variables %s offered", offered)
    require("uval" in reader.CellData.keys(), "arrays %s", reader.CellData.keys())
    one_by_one = [data + "/linadv_3d/visit_dump.%05d/summary.samrai" % step for step in (48, 0, 16)]
    reader.FileName = one_by_one + [data + "/linadv_3d/dumps.visit"]
    reader.UpdatePipelineInformation()
    times = reader.TimestepValues[:]
    require(len(times) == 4 and times == sorted(times) and times[1] < 1, "times %s", times)
    Delete(reader)


def check_channel():
    """Checks that index files are written, used, turned off and written again, and that the output is right."""
    path = copy_series("channel", 2)
    sidecars = os.environ["PATCHIO_METADATA_DIR"]

    def read(**properties):
        reader = PatchReader(FileName=[path], **properties)
        reader.UpdatePipeline(reader.TimestepValues[1])
        lines = [line for line in report_of(reader).splitlines() if line.startswith("Metadata: ")]
        shown = cells(reader), reader.CellData["uval"].GetRange(0)
        Delete(reader)
        return (lines or [""])[0], shown

    line, truth = read(MetadataChannel="Off")
    require(line == "" and truth[0] > 0, "mode Off says '%s'", line)
    line, shown = read()
    require("not saved: a file of the step changed less than 2 s ago" in line, "new files: '%s'", line)
    time.sleep(2.2)
    line, shown = read()
    require("saved to " in line and shown == truth, "first: '%s', %s", line, shown)
    name = line.split()[-1]
    require(name.startswith(sidecars) and os.path.exists(name), "no index file in '%s'", line)
    line, shown = read()
    require(line == "Metadata: from the index file " + name and shown == truth, "second: '%s', %s", line, shown)
    reader = PatchReader(FileName=[path], MetadataChannel="Rebuild")
    told = []
    for time_value in reader.TimestepValues:
        reader.UpdatePipeline(time_value)
        told.append(report_of(reader).count("Note: PatchIO wrote the index file " + sidecars))
    require(told == [1, 0], "that files were written is said %s times, not once", told)
    Delete(reader)
    before = os.stat(name).st_ino
    line, shown = read(MetadataChannel="Rebuild")
    require("saved to " in line and shown == truth, "rebuilt: '%s', %s", line, shown)
    require(os.stat(name).st_ino != before, "not written anew")


def check_numbers():
    """Checks that values out of range become the nearest valid value, and that the reader works."""
    reader = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"])
    for latency, bandwidth, limit, wanted in ((-1, 0, -5, ("0", "0.001", "0")), (1e9, 1e12, 7, ("1e+06", "1e+09", "7")),
                                              (float("nan"), float("nan"), 0, ("0", "0.001", "0"))):
        reader.StorageLatency, reader.StorageBandwidth, reader.MemoryLimit = latency, bandwidth, limit
        reader.UpdatePipeline()
        require(cells(reader) > 0, "no cells with %s", (latency, bandwidth, limit))
        text = str(reader.SMProxy.GetClientSideObject())
        for name, value in zip(("StorageLatency", "StorageBandwidth", "MemoryLimit"), wanted):
            require("%s: %s\n" % (name, value) in text, "%s is not %s:\n%s", name, value, text)
    Delete(reader)


def states_load():
    if GetParaViewVersion() < (6, 1) or servermanager.ActiveConnection.GetNumberOfDataPartitions() == 1:
        return True
    print("skipped: states, as LoadState() of ParaView 6.1 does not return on several ranks, also of a sphere alone")
    return False


def check_state():
    if not states_load():
        return
    reader = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"], ThreadMode="Fixed", ThreadsPerRank=3, BlankRefinedCells=0)
    reader.CellArrayStatus = ["flux"]
    state = os.path.join(scratch, "state.pvsm")
    SaveState(state)
    Delete(reader)
    LoadState(state)
    loaded = [s for s in GetSources().values() if s.GetXMLName() == "PatchReader"][0]
    loaded.UpdatePipeline()
    require(loaded.ThreadsPerRank == 3 and loaded.BlankRefinedCells == 0, "properties lost in the state")
    require(loaded.CellArrayStatus[:] == ["flux"], "arrays %s in the state", loaded.CellArrayStatus[:])
    Delete(loaded)


def check_threads():
    """Checks that the report and its data name the source of the number of threads in each mode, and that the output does not
    contain it."""
    reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"])
    require(reader.ThreadMode == "Automatic" and reader.ThreadPolicy == "Balanced", "%s, %s by default", reader.ThreadMode,
           reader.ThreadPolicy)

    def used(words, **properties):
        for name, value in properties.items():
            setattr(reader, name, value)
        reader.UpdatePipeline(reader.TimestepValues[1])
        text = report_of(reader)
        require(words in text, "'%s' is not in the report:\n%s", words, text)
        report = json.loads(reader.GetPropertyValue("IOReportData"))
        return [report["storage"]["best_concurrency"], report["storage"]["load"], tuple(report["threads"][0])]

    ranks = servermanager.ActiveConnection.GetNumberOfDataPartitions()
    require(used("Threads: automatic, balanced")[2][1] >= ranks, "less than one read in flight a rank")
    used("Threads: automatic, polite", ThreadPolicy="Polite")
    require(used("Threads: fixed", ThreadMode="Fixed", ThreadsPerRank=3) == [0, 0, (0, 3 * ranks)], "3 threads, fixed")
    found = used("from N* = 9 and NC = 2", ThreadMode="From N* and NC", StorageConcurrency=9, OtherLoad=2)
    require(found == [9, 2, (0, 7)], "N* 9, NC 2: %s", found)
    fields = reader.FieldData.keys()
    require("step" in fields and not [name for name in fields if name.startswith("I/O")], "field data %s", fields)
    Delete(reader)


def check_hidden_fault():
    """Checks a damaged coarse patch under finer patches: the picture must be right, and the report must name the fault."""
    path = os.path.join(scratch, "hidden", "plt00001")
    write_plotfile(path, ((0, 0, 0), (15, 7, 7)), [tiles((0, 0, 0), (15, 7, 7), (8, 8, 8)),
                                                   tiles((16, 0, 0), (31, 15, 15), (8, 8, 8))], ((2, 2, 2),))
    broken = path + "/Level_0/Cell_D_00001"
    for fault in (False, True):
        if fault:
            os.truncate(broken, 1000)
        reader = PatchReader(FileName=[path], Blocks="Merged up to Maximum Block Cells", MaximumBlockCells=512)
        reader.UpdatePipeline()
        report = report_of(reader)
        visible = Threshold(Input=reader, Scalars=["CELLS", "density"], LowerThreshold=0, UpperThreshold=1e9)
        visible.UpdatePipeline()
        require(cells(visible) == 8 ** 3 + 8 * 8 ** 3, "%d cells are shown", cells(visible))
        require(("1 array cannot be located. %s: expected" % broken in report) == fault, "fault %s: %s", fault, report)
        Delete(visible)
        Delete(reader)


def check_messages():
    """Checks that an error gives one message, the reader's own, also for files that are damaged from the first byte on."""
    path = copy_series("broken", 2)
    folder = os.path.join(os.path.dirname(path), "visit_dump.00016")
    cluster = [name for name in os.listdir(folder) if name.startswith("processor")][0]
    with open(os.path.join(folder, cluster), "r+b") as file:
        file.truncate(3000)
    empty = os.path.join(scratch, "empty.visit")
    open(empty, "w").close()
    reader = OpenDataFile(empty)

    def read(name):
        reader.FileName = [name]
        reader.UpdatePipeline(1)

    texts = [said_by(lambda: read(name)) for name in (path, empty)]  # noqa: B023
    for text, words in zip(texts, ("truncated: ", "the names of dumps")):
        require(text.count("ERROR") == 1 and words in text and "returned failure" not in text, "messages: %s", text)
    require(cells(reader) == 0, "something of a broken dump is shown")
    reader.FileName = [path]
    reader.UpdatePipeline(0)
    require(cells(reader) > 0, "the sound dump beside it is not shown")
    # VTK would request the damaged step forever if the reader returned a failure.
    statistics = TemporalStatistics(Input=reader)
    statistics.UpdatePipeline(0)
    require(cells(statistics) == 0, "statistics of a part of the steps")
    Delete(statistics)
    Delete(reader)


def check_what_is_known():
    """Checks that the panel starts with the facts about the data."""
    reader = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"])
    facts = [reader.SMProxy.GetProperty(name) for name in ("FormatName", "Levels", "ScalarNames")]
    require(facts[0].GetElement(0) == "SAMRAI", "format %s", facts[0].GetElement(0))
    finest = facts[1].GetElement(1)
    require([facts[2].GetElement(i) for i in range(facts[2].GetNumberOfElements())] == ["uval", "uval_node"], "scalars")
    require(reader.ValueArray == "uval" and reader.LevelRange[:] == [0, 99], "%s, %s", reader.ValueArray, reader.LevelRange[:])
    reader.UpdatePipeline()
    levels = reader.CellData["level"] if "level" in reader.CellData.keys() else reader.FieldData["level"]
    require(finest == levels.GetRange(0)[1] > 0, "finest level %d", finest)
    bounds = reader.GetDataInformation().GetBounds()
    same = all(abs(a - b) < 1e-6 for a, b in zip(reader.RegionBounds[:4], bounds))
    require(same, "the box is %s at first, the data are in %s", reader.RegionBounds[:], bounds)
    middle = [(bounds[2 * axis] + bounds[2 * axis + 1]) / 2 for axis in (0, 1)]
    require(all(abs(a - b) < 1e-6 for a, b in zip(reader.RegionOrigin[:2], middle)), "plane at %s", reader.RegionOrigin[:])
    Delete(reader)


def check_first_picture():
    """Checks that the first picture is a surface with the colors of the first array that exists."""
    reader = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"])
    view = CreateView("RenderView")

    def shown():
        display = Show(reader, view)
        found = display.Representation, display.ColorArrayName[:], bool(display.LookupTable)
        Delete(display)
        return found

    require(shown() == ("Surface", ["CELLS", "flux"], True), "the first picture: %s", shown())
    reader.CellArrayStatus = []
    require(shown() == ("Surface", ["POINTS", "uval_node"], True), "with node values alone: %s", shown())
    display = Show(reader, view, Representation="Outline")
    require(display.Representation == "Outline", "a choice of the script is overruled: %s", display.Representation)
    if not states_load():
        Delete(reader)
        Delete(view)
        return
    state = os.path.join(scratch, "outline.pvsm")
    SaveState(state)
    Delete(reader)
    Delete(view)
    LoadState(state)
    loaded = [s for s in GetSources().values() if s.GetXMLName() == "PatchReader"][0]
    display = GetDisplayProperties(loaded, GetViews()[-1])
    require(display.Representation == "Outline", "a state is overruled: %s", display.Representation)
    Delete(loaded)


def check_first_colors():
    """Checks the colors by the first array of the panel, which sorts by name: capitals, then small letters."""
    path = os.path.join(scratch, "colors", "plt00001")  # not beside the plotfile of check_outline
    write_plotfile(path, ((0, 0), (7, 7)), [tiles((0, 0), (7, 7), (4, 4))], names=["b", "Z", "a"])
    view = CreateView("RenderView")
    for off, wanted in (([], "Z"), (["Z"], "a")):
        reader = PatchReader(FileName=[path])
        reader.UpdatePipelineInformation()
        reader.CellArrayStatus = [name for name in ("b", "Z", "a") if name not in off]
        color = Show(reader, view).ColorArrayName[:]
        require(color == ["CELLS", wanted], "without %s the first picture is of %s", off, color)
        Delete(reader)
    Delete(view)


def check_outline():
    """Checks that the first picture is an outline if ParaView would need more than some seconds for a surface, and that the report
    says so."""
    domain = ((0, 0), (255, 255))  # surfaces of three dimensions are fast
    path = os.path.join(scratch, "plt00000")
    write_plotfile(path, domain, [tiles(*domain, (4, 4))], names=["f"])
    view = CreateView("RenderView")
    for blocks, wanted in (("As patches", "Outline"), ("Merged", "Surface")):
        reader = PatchReader(FileName=[path], Blocks=blocks)
        display = Show(reader, view)
        require(display.Representation == wanted, "%s: %s at first", blocks, display.Representation)
        said = "shows an outline first" in report_of(reader)
        require(said == (wanted == "Outline"), "%s: the report says%s outline", blocks, "" if said else " no")
        Delete(reader)
    Delete(view)


def check_cells_as_points():
    """Checks filters that read values of cells as values of points: the picture is wrong, but ParaView must not crash."""
    view = CreateView("RenderView")
    for name, array, properties in (("linadv_3d", "uval", dict()), ("linadv_3d", "uval", dict(Blocks="As patches")),
                                    ("linadv_2d", "flux", dict()), ("linadv_3d", "vtkGhostType", dict()),
                                    ("linadv_3d", "patch id", dict(AddPatchIds=1)),
                                    ("linadv_3d", "uval", dict(Region="Plane", SliceWhileReading=1))):
        reader = PatchReader(FileName=["%s/%s/dumps.visit" % (data, name)], **properties)
        if array == "flux":
            filters = [WarpByVector(Input=reader, Vectors=["CELLS", array])]
        else:
            filters = [WarpByScalar(Input=reader, Scalars=["CELLS", array]), Glyph(Input=reader, ScaleArray=["CELLS", array])]
        for filter in filters:
            filter.UpdatePipeline(reader.TimestepValues[-1])
            require(cells(filter) > 0, "%s of %s, %s: nothing", filter.GetXMLName(), array, properties)
            display = Show(filter, view)
            for representation in ("Surface", "Wireframe", "Points"):
                display.SetRepresentationType(representation)
                Render(view)
            Delete(filter)
        Delete(reader)
    Delete(view)


def check_hidden():
    """Checks that hidden cells do not count in the colour range of Cell Data To Point Data, nor in the results of Extract Selection
    by a query."""
    for properties in (dict(), dict(Blocks="As patches"), dict(Blocks="As patches", AddGhostLayer=1)):
        reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"], **properties)
        time = reader.TimestepValues[-1]
        reader.UpdatePipeline(time)
        view = CreateView("RenderView", ViewTime=time)
        Show(reader, view)
        Render(view)
        points = CellDatatoPointData(Input=reader)
        points.UpdatePipeline(time)
        low, high = points.PointData["uval"].GetRange(0)
        least, most = reader.CellData["uval"].GetRange(0)
        require(least <= low < high <= most, "%s: points from %g to %g, cells from %g to %g", properties, low, high, least, most)
        visible = Threshold(Input=reader, Scalars=["CELLS", "uval"], LowerThreshold=10, UpperThreshold=1e9)
        visible.UpdatePipeline(time)
        SetActiveSource(reader)
        QuerySelect(QueryString="(uval >= 10)", FieldType="CELL", Source=reader)
        found = ExtractSelection(Input=reader)
        found.UpdatePipeline(time)
        require(0 < cells(found) == cells(visible), "%s: %d cells are selected, %d are visible", properties, cells(found), cells(visible))
        whole = dict(items_of(output_of(reader)))
        for place, grid in dict(items_of(output_of(found))).items():
            here, there = [block.GetCellData().GetArray("uval") for block in (grid, whole[place])]
            numbers = grid.GetCellData().GetArray("vtkOriginalCellIds")
            require(all(here.GetValue(i) == there.GetValue(int(numbers.GetTuple1(i))) for i in range(grid.GetNumberOfCells())),
                   "%s: wrong numbers of the cells that are selected", properties)
        found.PreserveTopology = 1
        found.UpdatePipeline(time)
        for grid in dict(items_of(output_of(found))).values():
            flags, inside = [grid.GetCellData().GetArray(name) for name in ("vtkGhostType", "vtkInsidedness")]
            wrong = sum(flags.GetValue(i) != 0 and inside.GetValue(i) != 0 for i in range(flags.GetNumberOfTuples())) if flags else 0
            require(inside and not wrong, "%s: %d hidden cells are inside the selection", properties, wrong)
        for proxy in (found, visible, points, view, reader):
            Delete(proxy)


os.makedirs(scratch, exist_ok=True)
check_threads()
check_reload_after_errors()
check_reload_of_other_arrays()
check_wrong_choices()
check_time()
check_files()
check_channel()
check_hidden_fault()
check_numbers()
check_state()
check_messages()
check_what_is_known()
check_first_picture()
check_first_colors()
check_outline()
check_cells_as_points()
check_hidden()
print("passed: session")
