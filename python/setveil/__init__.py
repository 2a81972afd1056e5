"""Publish set-valued data (baskets, diagnosis codes, clicks, queries) without exposing anyone in it.

>>> import setveil as sv
>>> data = sv.Dataset([["flu", "tea"], ["flu", "tea"], ["flu", "tea", "ham"], ["ham", "rice"]])
>>> release = sv.disassociate(data, k=2, m=2)
>>> release.verify().holds
True

Guide: docs/python.md.
"""

from ._anonymize import anonymize, anonymize_file
from ._dataset import Dataset
from ._errors import (
    DataError,
    FileError,
    FileExists,
    FileMissing,
    IdentifierError,
    ParameterError,
    SetveilError,
    SetveilWarning,
    TooLarge,
)
from ._hierarchy import Hierarchy, HierarchyCheck
from ._methods import (
    apriori,
    cahd,
    diffpart,
    disassociate,
    dls,
    local_suppression,
    partition,
    perm_mondrian,
    suppress_rare,
)
from ._release import Release
from ._results import (
    Attack,
    Band,
    Comparison,
    Evaluation,
    Items,
    Itemsets,
    Made,
    Profile,
    Recommendation,
    Report,
    Result,
    Support,
    Supports,
    Verdict,
)
from ._workflows import (
    band,
    compare,
    demo_data,
    draw_sensitive,
    generate_query_log,
    generate_quest,
    read,
    recommend,
    verify,
)

__all__ = [
    "Attack",
    "Band",
    "Comparison",
    "DataError",
    "Dataset",
    "Evaluation",
    "FileError",
    "FileExists",
    "FileMissing",
    "Hierarchy",
    "HierarchyCheck",
    "IdentifierError",
    "Items",
    "Itemsets",
    "Made",
    "ParameterError",
    "Profile",
    "Recommendation",
    "Release",
    "Report",
    "Result",
    "SetveilError",
    "SetveilWarning",
    "Support",
    "Supports",
    "TooLarge",
    "Verdict",
    "anonymize",
    "anonymize_file",
    "apriori",
    "band",
    "cahd",
    "compare",
    "demo_data",
    "diffpart",
    "disassociate",
    "dls",
    "draw_sensitive",
    "generate_query_log",
    "generate_quest",
    "local_suppression",
    "partition",
    "perm_mondrian",
    "read",
    "recommend",
    "suppress_rare",
    "verify",
]
