"""The methods: each makes a release of data, with the defaults of the command line."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Literal

from ._anonymize import anonymize
from ._dataset import Dataset
from ._errors import ParameterError, SetveilWarning
from ._hierarchy import Hierarchy
from ._manner import Progress
from ._release import Keep, Release


def _labels(items: Iterable[str]) -> list[str]:
    if isinstance(items, str):
        raise ParameterError("sensitive is one text: give a list of items")
    return [str(item) for item in items]


def disassociate(
    data: Dataset,
    *,
    k: int = 5,
    m: int = 2,
    max_cluster_size: int | None = None,
    clustering: Literal["horpart", "whole"] = "horpart",
    refine: bool = True,
    sensitive: Iterable[str] | None = None,
    l: int | None = None,  # noqa: E741
    safe: bool = False,
    eta: float | None = None,
    join_width: int | Literal["all"] | None = None,
    drop_below_k: bool = False,
    keep: Keep | None = None,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Keeps every item, and hides which rare combinations occurred together (disassociation).

    Whoever knows up to ``m`` items of a person is left with at least ``k``
    candidates, as far as the published format tells. A ``sensitive`` item
    belongs to at most 1/``l`` of the records of every cluster; ``l`` is ``k``
    if it is not given.

    ``keep`` names sets of items that shall stay together where that is allowed;
    ``release.made.kept`` says what became of them. The list is not published.

    ``safe`` shows nothing that somebody who knows this program could use to undo
    it: ``eta`` is the share of possible data sets that may be ruled out (0.05),
    ``join_width`` how many clusters share terms with each other,
    ``drop_below_k`` leaves out items of fewer than k records. See docs/safe.md.

    >>> import setveil as sv
    >>> release = sv.disassociate(sv.demo_data(), k=3, m=2)
    >>> release.guarantee["k"]
    3
    """
    if sensitive is not None:
        sensitive, l = _labels(sensitive), k if l is None else l  # noqa: E741
    return anonymize(
        data,
        "disassociation",
        k=k,
        m=m,
        max_cluster_size=max_cluster_size,
        clustering=clustering,
        refine=refine,
        sensitive=sensitive,
        l=l,
        safe=safe or None,
        eta=eta,
        join_width=join_width,
        drop_below_k=drop_below_k or None,
        keep=keep,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )


def dls(
    data: Dataset,
    *,
    k: int = 5,
    m: int = 2,
    max_cluster_size: int | None = None,
    clustering: Literal["horpart", "whole"] = "horpart",
    refine: bool = True,
    sensitive: Iterable[str] | None = None,
    l: int | None = None,  # noqa: E741
    keep: Keep | None = None,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Disassociation with some instances suppressed: fewer clusters cut apart (DLS).

    Supports in the release are lower bounds.

    >>> import setveil as sv
    >>> sv.dls(sv.demo_data(), k=3, m=2).verify().holds
    True
    """
    if sensitive is not None:
        sensitive, l = _labels(sensitive), k if l is None else l  # noqa: E741
    return anonymize(
        data,
        "dls",
        k=k,
        m=m,
        max_cluster_size=max_cluster_size,
        clustering=clustering,
        refine=refine,
        sensitive=sensitive,
        l=l,
        keep=keep,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )


def local_suppression(
    data: Dataset,
    *,
    k: int = 5,
    m: int = 2,
    max_cluster_size: int | Literal["all"] | None = None,
    no_item_counts: bool = False,
    only_combinations: bool = False,
    sensitive: Iterable[str] | None = None,
    keep: Keep | None = None,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Keeps frequent combinations; each record gives up the items that make a rare one.

    Who knows more than ``m`` items of a person learns more here than from
    disassociation: see docs/local-suppression.md.

    >>> import setveil as sv
    >>> sv.local_suppression(sv.demo_data(), k=3, m=2).verify().holds
    True
    """
    return anonymize(
        data,
        "local-suppression",
        k=k,
        m=m,
        max_cluster_size=max_cluster_size,
        no_item_counts=no_item_counts,
        only_combinations=only_combinations,
        sensitive=_labels(sensitive) if sensitive is not None else None,
        keep=keep,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )


def partition(
    data: Dataset,
    *,
    hierarchy: Hierarchy,
    k: int = 5,
    unknown_to_root: bool = False,
    hide_leaves: bool = False,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Generalises items until every record equals at least ``k`` - 1 others.

    The hierarchy is published: one that was made from the data names every item.

    >>> import setveil as sv
    >>> data = sv.demo_data()
    >>> sv.partition(data, k=3, hierarchy=sv.Hierarchy.balanced(data)).verify().holds
    True
    """
    return anonymize(
        data,
        "partition",
        hierarchy=hierarchy,
        k=k,
        unknown_to_root=unknown_to_root,
        hide_leaves=hide_leaves,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )


def apriori(
    data: Dataset,
    *,
    hierarchy: Hierarchy,
    k: int = 5,
    m: int = 2,
    unknown_to_root: bool = False,
    hide_leaves: bool = False,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Generalises items until every set of up to ``m`` that occurs, occurs in ``k`` records.

    >>> import setveil as sv
    >>> data = sv.demo_data()
    >>> sv.apriori(data, k=3, m=2, hierarchy=sv.Hierarchy.balanced(data)).verify().holds
    True
    """
    return anonymize(
        data,
        "apriori",
        hierarchy=hierarchy,
        k=k,
        m=m,
        unknown_to_root=unknown_to_root,
        hide_leaves=hide_leaves,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )


def suppress_rare(
    data: Dataset,
    *,
    k: int = 5,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Drops items in fewer than ``k`` records: a baseline that promises nothing about combinations.

    >>> import setveil as sv
    >>> sv.suppress_rare(sv.demo_data(), k=3).verify().holds
    True
    """
    return anonymize(
        data,
        "suppress-rare",
        k=k,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )


def cahd(
    data: Dataset,
    *,
    sensitive: Iterable[str],
    p: int = 10,
    sensitive_only: Literal["refuse", "drop"] = "refuse",
    as_printed: bool = False,
    alpha: int = 3,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Keeps harmless items exactly, and hides who of a group has a sensitive one (CAHD).

    Groups are formed with secret random numbers: the same call gives other
    groups. Two releases of the same data together say more than either promises.

    >>> import setveil as sv
    >>> data = sv.demo_data()
    >>> rare = sv.draw_sensitive(data, 1, p=4)
    >>> sv.cahd(data, sensitive=rare, p=4, sensitive_only="drop").verify().holds
    True
    """
    if as_printed:
        warnings.warn(
            "the printed grouping tells who: attack() finds holders by replaying it; "
            "do not publish this release (docs/cahd.md)",
            SetveilWarning,
            stacklevel=2,
        )
    return anonymize(
        data,
        "cahd",
        sensitive=_labels(sensitive),
        p=p,
        sensitive_only=sensitive_only,
        grouping="as-printed" if as_printed else "blind",
        alpha=alpha if as_printed else None,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )


def perm_mondrian(
    data: Dataset,
    *,
    sensitive: Iterable[str],
    p: int = 10,
    sensitive_only: Literal["refuse", "drop"] = "refuse",
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Groups records by their harmless items, sensitive items apart: the baseline of CAHD.

    >>> import setveil as sv
    >>> data = sv.demo_data()
    >>> rare = sv.draw_sensitive(data, 1, p=4)
    >>> sv.perm_mondrian(data, sensitive=rare, p=4, sensitive_only="drop").verify().holds
    True
    """
    return anonymize(
        data,
        "perm-mondrian",
        sensitive=_labels(sensitive),
        p=p,
        sensitive_only=sensitive_only,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )


def diffpart(
    data: Dataset,
    *,
    epsilon: float,
    hierarchy: Hierarchy | None = None,
    universe_from_data: bool = False,
    drop_unknown: bool = False,
    fanout: int = 10,
    as_baskets: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    progress: Progress = False,
) -> Release:
    """Publishes noisy counts of sets of items, with differential privacy.

    The hierarchy must be public: all items that could occur, and not made from
    the data. ``universe_from_data`` takes the items from the data, and so
    publishes without protection which ones occur.

    >>> import setveil as sv
    >>> data = sv.demo_data()
    >>> shelf = sv.Hierarchy([[label, "*"] for label in data.labels])
    >>> sv.diffpart(data, epsilon=2.0, hierarchy=shelf).guarantee["epsilon"]
    2.0
    """
    if (hierarchy is None) != universe_from_data:
        raise ParameterError("give either hierarchy= or universe_from_data=True")
    if universe_from_data:
        warnings.warn(
            "the names of all items in the data are published as they are: differential privacy "
            "covers their counts and combinations, and not that they occur",
            SetveilWarning,
            stacklevel=2,
        )
    return anonymize(
        data,
        "diffpart",
        hierarchy=hierarchy,
        universe_from_data=universe_from_data,
        epsilon=epsilon,
        drop_unknown=drop_unknown,
        fanout=fanout,
        as_baskets=as_baskets,
        threads=threads,
        max_memory=max_memory,
        progress=progress,
    )
