"""trace.py FILE: checks a trace, and lists its phases and equations.

Launches do not overlap, and each of them is inside a phase: on a thread of its
own, as viewers show it.
"""

import json
import sys

with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
named = {event["name"]: event["args"]["name"] for event in events if event["ph"] == "M"}
assert set(named) == {"process_name", "thread_name"}, named
spans = [event for event in events if event["ph"] == "X"]
assert all(event["pid"] == 1 and event["dur"] >= 0 for event in spans)
phases = [event for event in spans if event["cat"] == "phase"]
launches = sorted((event for event in spans if event["cat"] == "equation"),
                  key=lambda event: event["ts"])
assert {event["tid"] for event in phases} == {1}
assert {event["tid"] for event in launches} == {2}

# Times are rounded to a nanosecond.
for before, after in zip(launches, launches[1:]):
    assert before["ts"] + before["dur"] <= after["ts"] + 0.01
for event in launches:
    assert any(phase["ts"] - 0.01 <= event["ts"]
               and event["ts"] + event["dur"] <= phase["ts"] + phase["dur"] + 0.01
               for phase in phases), event
assert any("place" in event["args"] for event in launches)

print("phases: " + ", ".join(sorted({event["name"] for event in phases})))
for line in sorted({f"equation: {event['name']} {event['args'].get('place', '')} "
                    f"{event['args'].get('program', '')}" for event in launches}):
    print(line)
