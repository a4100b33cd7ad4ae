"""The main program of test scripts that have a function case_NAME for each case."""
import argparse
import shutil
import sys
import traceback


def run_case(script, make, *names):
    """Runs the case that the command line names. script: globals() of the script. make: makes what the function of the case gets from the
    options `names`; its folder `place` is removed at the end."""
    cases = {name[5:]: function for name, function in script.items() if name.startswith("case_")}
    parser = argparse.ArgumentParser(description=script["__doc__"], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=sorted(cases))
    for name in names:
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    bench = make(options)
    try:
        cases[options.case](bench)
    except Exception:
        traceback.print_exc()
        sys.exit("FAILED: " + options.case)
    finally:
        shutil.rmtree(bench.place, ignore_errors=True)
    print("passed: " + options.case)
