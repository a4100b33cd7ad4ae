"""One module a suite; each has run(report, folder, rounds)."""
