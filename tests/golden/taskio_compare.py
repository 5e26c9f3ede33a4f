# SPDX-License-Identifier: MIT
"""Compares taskio's document with the other program's of the same four experiments."""

# Both make the same calls, so that these must be the same; how many bytes are cancelled or get to the
# device depends on the moment.
EXACT = "rchar", "wchar", "syscr", "syscw"


def key_paths(value, path=""):
    """"a[].b": where a reader finds something."""
    if isinstance(value, dict):
        inner = [(f"{path}.{key}" if path else key, item) for key, item in value.items()]
    elif isinstance(value, list):
        inner = [(f"{path}[]", item) for item in value]
    else:
        return set()
    return {where for where, _ in inner}.union(*(key_paths(item, where) for where, item in inner))


def deltas(value, path=""):
    """(path, delta) of everything that was measured."""
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key == "delta":
            yield path, item
        else:
            yield from deltas(item, f"{path}.{key}")


def compare(reference, ours, size=None):
    """Sentences on what differs. @size: our payload, where it is another."""
    wanted = {path.replace("environment.python", "environment.program") for path in key_paths(reference)}
    for path in sorted(wanted - key_paths(ours)):
        yield f"there is no {path}"
    for key in "schemaVersion", "kind", "parameters":
        if ours[key] != reference[key]:
            yield f"{key} is {ours[key]}, not {reference[key]}"
    for their, our in zip(reference["observations"], ours["observations"]):
        mine = dict(deltas(our))
        for path, delta in deltas(their):
            for counter in EXACT:
                expected = scale(counter, delta[counter], size, reference["parameters"]["payloadBytes"])
                if mine[path][counter] != expected:
                    yield f"{counter} of {path} is {mine[path][counter]}, not {expected}"
        for name in "dirty_truncate", "synced_truncate":
            yield from compare_truncation(name, their[name], our[name])


def scale(counter, value, size, reference_size):
    """What the same calls come to with another payload; a read more finds the end."""
    if size is None or not value:
        return value
    if counter == "syscr":
        return (value - 1) * size // reference_size + 1
    return value if counter == "syscw" else value * size // reference_size


def compare_truncation(name, their, our):
    for key in "writer_fsync_before_truncate", "final_file_size_bytes":
        if our[key] != their[key]:
            yield f"{key} of {name} is {our[key]}"
    if our["writer_after_truncate"] != our["writer"]["after"]:
        yield f"{name}: the writer's counters changed"
    delta = our["truncator"]["delta"]
    if our["truncator_write_minus_cancelled_bytes"] != delta["write_bytes"] - delta["cancelled_write_bytes"]:
        yield f"{name}: the net bytes are not the difference"
