"""Descriptions of data sets and steps: numbers with their nouns, and tables for notebooks."""
import html

from ._errors import path_text

_PLURALS = {"patch": "patches"}
_MAX_ROWS = 50


def count_text(number, noun):
    """Returns the number with its noun, such as "1 step" or "2 steps"."""
    return "%d %s" % (number, noun if number == 1 else _PLURALS.get(noun, noun + "s"))


def _html_table(head, rows):
    """Returns an HTML table of at most _MAX_ROWS rows. head: headings of the columns; may be empty. rows: lists of cells."""
    lines = ["<tr>%s</tr>" % "".join("<th>%s</th>" % html.escape(str(cell)) for cell in head)] if head else []
    for row in rows[:_MAX_ROWS]:
        lines.append("<tr>%s</tr>" % "".join("<td style='text-align: left'>%s</td>" % html.escape(str(cell)) for cell in row))
    if len(rows) > _MAX_ROWS:
        lines.append("<tr><td>and %d more</td></tr>" % (len(rows) - _MAX_ROWS))
    return "<table>%s</table>" % "".join(lines)


def _variables_table(step):
    rows = [(v.name, v.centering, v.components, count_text(int(present.sum()), "patch"))
            for v, present in zip(step.variables.values(), step.presence)]
    return _html_table(("variable", "at", "components", "on"), rows)


def _levels_table(step):
    rows = [(name, count_text(int(level["patch_count"]), "patch"), role if role != "refinement" else
             " x ".join(str(n) for n in level["ratio"][:step.dimension])) for name, role, level in
            zip(step.level_names, step.level_roles, step.levels)]
    return _html_table(("level", "patches", "ratio"), rows)


def html_of_step(step):
    """Returns the levels and variables of a step as HTML, without reading values."""
    rows = [("step", step.number), ("time", step.date or "%g" % step.time), ("grid", "%s, %d-D" % (step.grid, step.dimension))]
    return "<b>patchio.Step</b> of %s%s%s%s" % (html.escape(path_text(step.path)), _html_table((), rows), _levels_table(step), _variables_table(step))


def html_of_data_set(data):
    """Returns a description of the series and of the first step as HTML."""
    times = ["%g" % time for time in data.times]
    labels = data.dates if all(data.dates) else times
    rows = [("format", data.format), ("steps", len(data)), ("times", labels[0] if len(labels) == 1 else "%s to %s" % (labels[0], labels[-1]))]
    try:
        first = html_of_step(data._first)
    except (RuntimeError, ValueError) as fault:     # the step is broken, or the series is closed
        first = html.escape(str(fault))
    return "<b>patchio.DataSet</b> %s%s%s" % (html.escape(path_text(data.path)), _html_table((), rows), first)
