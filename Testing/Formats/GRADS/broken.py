"""Faults of GrADS descriptors and their files; see Testing/Faults/broken_files.py."""
import os
import shutil

SOUND = {"plain/plain.ctl": ["plain.ctl", "plain.dat"], "big_sequential/big_sequential.ctl": ["big_sequential.ctl", "big_sequential.dat"]}
# Changed numbers are still numbers. A growing file, or a descriptor without its last word, is shown as far as possible.
QUIET = {("plain.ctl", "cut at 0.9"), ("big_sequential.ctl", "cut at 0.9")}
# name, text of the descriptor, its replacement, expected message
EDITS = [
    ("x_most", "xdef 12", "xdef 2147483647", "ctl|dat"),
    ("x_zero", "xdef 12", "xdef 0", "ctl"),
    ("x_negative", "xdef 12", "xdef -12", "ctl"),
    ("x_of_letters", "xdef 12", "xdef twelve", "ctl"),
    ("x_backwards", "linear 70.0 0.5", "linear 70.0 -0.5", "ctl"),
    ("x_nan", "linear 70.0 0.5", "linear nan 0.5", "ctl"),
    ("y_missing", "ydef 9 linear 15.0 0.25\n", "", "ctl"),
    ("levels_too_few", "zdef 4", "zdef 9", "ctl"),
    ("times_most", "tdef 3", "tdef 2147483647", "ctl|dat"),
    ("times_more_than_there_are", "tdef 3", "tdef 4", "ctl|dat"),
    ("date_wrong", "18:00z27feb2017", "18:00z99feb2017", "ctl"),
    ("step_unknown", "6hr", "6xx", "ctl"),
    ("variables_most", "vars 4", "vars 2147483647", "ctl"),
    ("variables_more", "vars 4", "vars 5", "ctl"),
    ("levels_of_a_variable", "u 4 99", "u 99999999 99", "ctl"),
    ("levels_negative", "u 4 99", "u -4 99", "ctl"),
    ("undef_of_letters", "undef 9.999e+20", "undef nothing", "ctl"),
    ("another_kind_of_file", "title plain", "dtype netcdf", "ctl"),
    ("data_missing", "dset ^plain.dat", "dset ^none.dat", "none.dat"),
    ("data_is_a_folder", "dset ^plain.dat", "dset ^.", "ctl|folder|directory|file"),
    ("data_is_a_device", "dset ^plain.dat", "dset /dev/zero", "/dev/zero"),
    ("template_without_end", "dset ^plain.dat", "options template\ndset ^%y4%m2%d2%h2%n2%y4%m2.dat", None),
]


def contradictions(cases, folder):
    for name, old, new, wanted in EDITS:
        path = os.path.join(folder, name)
        shutil.copytree(os.path.join(cases, "plain"), path)
        path = os.path.join(path, "plain.ctl")
        with open(path) as stream:
            text = stream.read()
        assert old in text, (name, text)
        with open(path, "w") as stream:
            stream.write(text.replace(old, new, 1))
        yield name, path, wanted
