"""`python -m tests.golden` writes the snapshots anew."""

from tests.golden.snapshot import FOLDER, SNAPSHOTS

for name, make in SNAPSHOTS.items():
    path = FOLDER / f"{name}.txt"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = make() + "\n"
    path.write_text(after, encoding="utf-8")
    print(f"{name}: {'unchanged' if after == before else 'changed'}")
