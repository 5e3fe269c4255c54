"""List the benchmarks, or run those that are named (`all` for every one)."""

import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
HELPERS = {"__init__", "__main__", "measuring"}


def main(names: list[str]) -> None:
    """Run the named benchmarks, one after the other."""
    known = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in HELPERS)
    if not names:
        for name in known:
            module = import_module(f"tests.benchmarks.{name}")
            print(f"{name}: {(module.__doc__ or '').splitlines()[0]}")
        return
    for name in known if names == ["all"] else names:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(known)}")
        import_module(f"tests.benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
