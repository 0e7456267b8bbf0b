"""Running figures of the requests served: what is old fades. Pure."""

from __future__ import annotations


class Mean:
    """An exponentially weighted mean; plain until enough was seen.

    Args:
        memory: Weight of the latest value, once more than 1 / memory were seen.
    """

    def __init__(self, memory: float) -> None:
        """Begin with nothing seen."""
        self._memory = memory
        self.num = 0
        """Values seen."""
        self.value = 0.0

    def add(self, value: float) -> None:
        """Take a value."""
        self.num += 1
        self.value += max(self._memory, 1 / self.num) * (value - self.value)


class Lengths:
    """The distribution of a length in tokens, by powers of two, exponentially weighted.

    Args:
        memory: What a length loses of its weight with each further one.
    """

    def __init__(self, memory: float) -> None:
        """Begin with nothing seen."""
        self._keep = 1 - memory
        self._weights: list[float] = []  # of lengths up to 1, 2, 4, 8, ...
        self.num = 0
        """Lengths seen."""

    def add(self, length: int, weight: float = 1.0) -> None:
        """Take a length.

        Args:
            length: In tokens, at least 0.
            weight: How much it counts.
        """
        number = max(0, length - 1).bit_length()
        self._weights += [0.0] * (number + 1 - len(self._weights))
        self._weights = [self._keep * one for one in self._weights]
        self._weights[number] += weight
        self.num += 1

    def quantile(self, share: float) -> int:
        """Return the least power of two that bounds a share of the weight; else 0."""
        enough, below = share * sum(self._weights), 0.0
        for number, weight in enumerate(self._weights):
            below += weight
            if below > 0 and below >= enough:
                return 1 << number
        return 0
