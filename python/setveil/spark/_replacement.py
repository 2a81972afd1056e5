"""How a release comes to its place, and how an earlier one is kept meanwhile.

Everything is made in a directory beside the place, whose name begins with a
dot, the manifest included. Then two renames: the earlier release goes into
that directory, and the new one to its place. No file system that Hadoop knows
exchanges two directories at once, so between the two renames nothing is at the
place; both releases are whole in the directory beside it then.

If anything fails, what is there decides what to do, not what was done last: a
rename may have been done although it was said to have failed. A release is
known by its names and lengths, which were listed before it was moved; nothing
with a manifest that is not ours, byte for byte, is ever taken for a part of ours.

Others may write to the same place, and nobody can lock it. Whoever comes first
keeps it: nothing is replaced that was not to be replaced, also if it came in
the last moment, and a rename that went into a directory which had just come
(as those of HDFS do) is undone.

On file systems that copy in place of a rename (object stores) a directory may
be moved in part. Then the same rules hold: a part of the new release is taken
away, a whole earlier release is put back, and if it is not whole anywhere,
nothing more is touched and the error says where to look.
"""

from __future__ import annotations

import contextlib
import json
import threading
import uuid
from collections.abc import Callable
from typing import Any

from .._errors import DataError, FileExists
from ._folders import Folders, Listing

MANIFEST = "manifest.json"
LARGEST = 64 << 20
"""No manifest is larger: a thousand files are 200 kB."""


def refuse_others(folders: Folders, folder: Any, path: str) -> None:
    """Refuses to replace a directory that is anything but a release: it has a manifest of Setveil
    and the files which that lists, and nothing else."""
    names = folders.listed(folder) or {}
    why = None
    try:
        if not 0 <= names.get(MANIFEST, 0) <= LARGEST:
            raise ValueError
        manifest = json.loads(folders.read(folders.inside(folder, MANIFEST)))
        if manifest["format"] != "setveil-release":
            raise ValueError
        listed = {str(entry["name"]) for entry in manifest["files"]} | {MANIFEST}
        others = sorted(name for name, length in names.items() if length < 0 or name not in listed)
        if others:
            why = f"it has {others[0]!r}, which is none of a release's files"
    except (KeyError, TypeError, ValueError):
        why = "its manifest.json is not that of a release"
    if why is not None:
        raise FileExists(f"{path}: {why}; choose another name, or remove by hand what is there")


class Replacement:
    """One release on its way. :meth:`publish`, and in any case :meth:`clear`."""

    def __init__(self, folders: Folders, path: str) -> None:
        self._folders, self._root, self._path = folders, folders.root, path
        self.tag = f"setveil-{uuid.uuid4().hex[:12]}"
        """No other write has this one. A tag of Spark's jobs may not have every character of a path."""
        self._staging = folders.beside(f".{self._root.getName()}.{self.tag}")
        self.clusters: Any = folders.inside(self._staging, "clusters")
        """Where the machines write the clusters to."""
        self._made, self._before = (folders.inside(self._staging, name) for name in ("release", "before"))
        # Whoever is told to clear waits until nobody publishes any more.
        self._lock, self._stopped = threading.Lock(), False
        # What was at the place before it was moved away, and what shall be there.
        self._earlier: Listing | None = None
        self._ours: Listing = {}
        self._manifest = b""
        # Whether what is at the place may be a part of ours.
        self._moving = False
        self.left: str | None = None
        """A directory that could not be removed, and why."""

    def stop(self) -> None:
        """Nothing is published after this, unless it is about to be."""
        self._stopped = True

    def publish(
        self, names: dict[int, str], others: dict[str, bytes], check: Callable[[], None], overwrite: bool
    ) -> None:
        """Puts the release together from the files of clusters, by their numbers, and the other files,
        and moves it to its place if `check` has nothing against it. Only with `overwrite` a release is replaced."""
        with self._lock:
            try:
                self._go_on()
                self._gather(names, others)
                check()
                self._go_on()
                self._exchange(overwrite)
            except BaseException:
                # At once; if it fails here, `clear` tries again and says so.
                with contextlib.suppress(BaseException):
                    self._put_back()
                raise

    def clear(self) -> None:
        """Puts an earlier release back if the new one is not at its place, and removes all else."""
        with self._lock:
            self._stopped = True
            try:
                self._put_back()
            except BaseException as error:
                raise DataError(f"{self._path}: {self._where()}; {error}") from error
            self._remove()

    def _go_on(self) -> None:
        if self._stopped:
            raise KeyboardInterrupt

    def _gather(self, names: dict[int, str], others: dict[str, bytes]) -> None:
        self._folders.make(self._made)
        for number, name in names.items():
            self._go_on()
            self._folders.rename(self._only_file(number), self._folders.inside(self._made, name))
        # The manifest comes last: without it nothing is a release.
        for name in sorted(others, key=lambda name: name == MANIFEST):
            self._folders.write(self._folders.inside(self._made, name), others[name])
        self._manifest = others[MANIFEST]
        self._ours = {entry["name"]: entry["bytes"] for entry in json.loads(others[MANIFEST])["files"]}
        self._ours[MANIFEST] = len(self._manifest)
        if self._folders.listed(self._made) != self._ours:
            raise DataError(f"{self._path}: files were written that are not those of the manifest; write again")

    def _only_file(self, number: int) -> Any:
        folder = self._folders.inside(self.clusters, f"file={number}")
        found = [name for name in self._folders.listed(folder) or {} if name.startswith("part-")]
        if len(found) != 1:
            raise DataError(f"{self._path}: {len(found)} files were written in place of one; write again")
        return self._folders.inside(folder, found[0])

    def _exchange(self, overwrite: bool) -> None:
        meanwhile = FileExists(f"{self._path}: somebody else has written there meanwhile; choose another name")
        found = self._folders.listed(self._root)
        # Somebody may have come to the place since it was looked at.
        if found and not overwrite:
            raise meanwhile
        self._earlier = found
        if self._earlier is not None:
            self._folders.rename(self._root, self._before)
            # Or put something into it since it was listed.
            moved = self._folders.listed(self._before)
            if moved and not self._earlier:
                self._earlier = moved
            if self._earlier and not overwrite:
                raise meanwhile
            if self._earlier:
                refuse_others(self._folders, self._before, self._path)
        if self._folders.listed(self._root) is not None:
            raise meanwhile
        self._moving = True
        try:
            self._folders.rename(self._made, self._root)
        except FileExists:
            # This is said before anything is moved: what is at the place is somebody else's.
            self._moving = False
            raise meanwhile from None
        at_place = self._folders.listed(self._root)
        if at_place != self._ours:
            raise meanwhile if self._nested(at_place) else DataError(f"{self._path}: the release did not come to its place")
        # What happens to it from now on is no concern of this.
        self._earlier, self._moving = None, False

    def _put_back(self) -> None:
        """Afterwards the new release is at its place, or what was there before."""
        if self._earlier is None and not self._moving:
            return
        at_place = self._folders.listed(self._root)
        if self._moving and self._nested(at_place):
            self._folders.delete(self._folders.inside(self._root, self._made.getName()))
            # It is where it should be, but for the directory around it, which is somebody else's.
            self._moving = False
            at_place = self._folders.listed(self._root)
        if self._moving:
            ours = at_place is not None and self._is_part_of_ours(at_place)
            if ours and at_place == self._ours:
                return
            if ours:
                self._folders.delete(self._root)
                at_place = None
            # What comes to the place from now on is not ours.
            self._moving = at_place is not None
        before = self._folders.listed(self._before)
        if before is None and (at_place or {}).get(self._before.getName()) == -1:
            # A rename back may go into a directory that has just come, too.
            inner = self._folders.inside(self._root, self._before.getName())
            if self._folders.listed(inner) == self._earlier:
                self._folders.rename(inner, self._before)
                at_place, before = self._folders.listed(self._root), self._earlier
        if before is None or at_place == self._earlier:
            return
        self._join(before, at_place)
        if self._folders.listed(self._root) != self._earlier:
            raise DataError("it did not come to its place")

    def _join(self, before: Listing, at_place: Listing | None) -> None:
        """Moves the earlier release back, or what was moved of it."""
        earlier = self._earlier or {}
        if at_place is not None and not at_place.items() <= earlier.items():
            raise FileExists("something else is at its place")
        if {**before, **(at_place or {})} != earlier:
            raise DataError("it is not whole there")
        if at_place is None:
            return self._folders.rename(self._before, self._root)
        for name in before.keys() - at_place.keys():
            self._folders.rename(self._folders.inside(self._before, name), self._folders.inside(self._root, name))

    def _is_part_of_ours(self, listing: Listing) -> bool:
        """Whether what is at the place can be deleted: a part of our release, and of no other one."""
        if not all(0 <= length <= self._ours.get(name, -1) for name, length in listing.items()):
            return False
        return MANIFEST not in listing or self._has_our_manifest(self._root)

    def _nested(self, listing: Listing | None) -> bool:
        """Whether our release has gone into the directory that is at the place, and not there."""
        if listing is None or listing.get(self._made.getName()) != -1:
            return False
        inner = self._folders.inside(self._root, self._made.getName())
        return self._folders.listed(inner) == self._ours and self._has_our_manifest(inner)

    def _has_our_manifest(self, folder: Any) -> bool:
        return self._folders.read(self._folders.inside(folder, MANIFEST)) == self._manifest

    def _where(self) -> str:
        """Where the releases are that this could not put in order."""
        if self._earlier is None:
            return "a part of the release that was being written is left there"
        moved = False
        with contextlib.suppress(BaseException):
            moved = self._folders.listed(self._before) is not None
        if not moved:
            return f"the earlier release is there or in {self._before.toString()}"
        return f"the earlier release could not be put back: move here what of it is kept in {self._before.toString()}"

    def _remove(self) -> None:
        """What is left costs room and nothing else, so that is no error."""
        for _ in range(2):
            try:
                self._folders.delete(self._staging)
            except Exception as error:
                self.left = f"{self._staging.toString()} could not be removed: remove it by hand; {error}"
            else:
                self.left = None
                return
