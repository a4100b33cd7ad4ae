"""Faults of SAMRAI dumps; see Testing/Faults/broken_files.py. Testing/Faults/make_faults.py has a hundred more faults."""

DUMP = "visit_dump.00000/"
SOUND = {"tiles_3d/%ssummary.samrai" % DUMP: ["summary.samrai", "processor_cluster.00000.samrai"]}
QUIET = set()


def contradictions(cases, folder):
    return []
