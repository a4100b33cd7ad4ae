"""Expectations of test scripts."""
import sys

MOST_PRINTED = 50
failed = []    # the messages of the expectations that do not hold
place = ""     # the beginning of each message, for example "rank 3: "


def expect(condition, message, *details):
    """Keeps and prints the message if `condition` is false. The script continues. Returns the condition."""
    if not condition:
        failed.append(place + (message % details if details else message))
        if len(failed) <= MOST_PRINTED:
            print("FAILED: " + failed[-1], flush=True)
    return condition


def require(condition, message, *details):
    """Ends the script with the message if `condition` is false."""
    if not condition:
        sys.exit("FAILED: " + (message % details if details else message))
