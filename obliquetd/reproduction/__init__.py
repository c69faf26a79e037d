"""The paper's experiments, reproduced and judged."""

from obliquetd.reproduction.reproduce import NAMES, Reproduction, reproduce
from obliquetd.reproduction.studies import STUDIES
from obliquetd.reproduction.table1 import table_1

__all__ = ["NAMES", "STUDIES", "Reproduction", "reproduce", "table_1"]
