"""Runs the notebooks in notebooks/ and fails where one does: `python3 python/tools/notebooks.py`.

`--short` runs the short form (SCHEDLAB_SHORT), `--save` keeps what they show. Needs schedlab, matplotlib, nbclient, nbformat
and ipykernel.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    if "--short" in sys.argv:
        os.environ["SCHEDLAB_SHORT"] = "1"
    named = [word for word in sys.argv[1:] if not word.startswith("--")]
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if named and path.stem not in named:
            continue
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": str(ROOT)}}).execute()
        if "--save" in sys.argv:
            for cell in notebook.cells:
                # When a cell ran says nothing of what it shows.
                cell.metadata.pop("execution", None)
            notebook.metadata["language_info"] = {"name": "python"}
            nbformat.write(notebook, path)
        print(f"{path.name}: {len(notebook.cells)} cells")


main()
