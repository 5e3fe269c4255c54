"""How large a server is, for the raters that a study has."""

from dataclasses import dataclass

THREADS = 4
"""Python runs one thread at a time, and each further one that waits its turn slows the others:
after a restart that all raters notice at once, 12 threads take twice as long to get through."""
CONNECTIONS_OF_A_BROWSER = 6
"""To one host, in today's browsers."""
SPARE_CONNECTIONS = 100
"""For the owner, a rater's second device, raters who are invited while the server runs."""
FEWEST_CONNECTIONS = 200
_OTHER_DESCRIPTORS = 128
"""The database's files and connections, standard streams, libraries, uploads on disk."""


@dataclass(frozen=True)
class Size:
    """What the server is given."""

    threads: int
    """Requests that run at once; others wait their turn."""
    connections: int
    """Open at once; the server takes no more until one ends."""
    warning: str | None = None


def size_for(raters: int) -> Size:
    """Return threads and connections for so many raters.

    Connections: 6 for each rater, as many as a browser opens, and 100 more; 200 at least.
    Threads: 4, whatever the raters. A rater saves every few seconds and a save takes
    milliseconds.
    """
    connections = CONNECTIONS_OF_A_BROWSER * raters + SPARE_CONNECTIONS
    return Size(THREADS, max(connections, FEWEST_CONNECTIONS))


def fitted(size: Size) -> Size:
    """Return a size that this process has descriptors for, after raising its limit if it can.

    Each connection is an open file. A server beyond its limit could not even refuse.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit.
        return size
    needed = size.connections + _OTHER_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return size
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        wanted = soft
    if wanted >= needed:
        return size
    connections = max(wanted - _OTHER_DESCRIPTORS, 16)
    return Size(
        size.threads,
        connections,
        f"The system allows this process {wanted} open files, so {connections} connections at "
        f"once instead of {size.connections}. Raise the limit with `ulimit -n {needed}` first.",
    )
