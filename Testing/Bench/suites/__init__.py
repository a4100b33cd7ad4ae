"""The suites: each is a module with a function run(report, folder, rounds)."""
