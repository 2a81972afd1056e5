"""What a plan of Spark has begun, asked of the plan itself.

Where a step failed there are no rows that could say whence they came, and
asking for them would run it again. A plan is a tree of Java objects that only
Spark knows; with adaptive execution its stages are leaves with plans inside.
"""

from __future__ import annotations

from typing import Any


def shuffles_of(plan: Any) -> set[int]:
    """The shuffles that a plan has begun, whether they ended or not. Nothing runs for this, and what is cached is somebody
    else's."""
    waiting, found = [plan], set()
    while waiting:
        node = waiting.pop()
        kind = node.getClass().getSimpleName()
        if kind == "AdaptiveSparkPlanExec":
            waiting.append(node.executedPlan())
        elif kind == "ShuffleQueryStageExec":
            waiting += _inner(node.shuffle())
            if node.isMaterialized() or not _is_range(node.shuffle()):
                found.add(node.shuffle().shuffleId())
            continue
        elif kind.endswith("QueryStageExec"):
            waiting.append(node.plan())
        elif kind == "ShuffleExchangeExec" and "rangepartitioning" not in node.toString():
            found.add(node.shuffleId())
        waiting += _inner(node)
    return found


def _inner(node: Any) -> list[Any]:
    children = node.children()
    return [children.apply(at) for at in range(children.size())]


def _is_range(exchange: Any) -> bool:
    """Whether Spark looks at rows before such a shuffle has a number, to cut them into ranges: who asks may run a job."""
    return exchange.outputPartitioning().getClass().getSimpleName() == "RangePartitioning"
