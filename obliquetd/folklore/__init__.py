"""A pack of claims: what everybody says of linear TD, each sentence decided.

``otd.verify(pack="folklore")`` judges them. A sentence is in our words, and names one who says it, or
for whom it is a rule of thumb; where it is false as it is often told, that is no reproach to
them, who mostly know.

==========  ====================================================================
``pack``    the pack, its topics and its bibliography
``judge``   how a sentence is decided: on which problems, and with which words
the others  the sentences, a file a topic or a part of it
==========  ====================================================================
"""

# ruff: noqa: F401, I001
from obliquetd.folklore.pack import PACK
from obliquetd.folklore import errors
from obliquetd.folklore import spans
from obliquetd.folklore import stability
from obliquetd.folklore import aggregation
from obliquetd.folklore import gradients
from obliquetd.folklore import emphatic
from obliquetd.folklore import gradient_td
from obliquetd.folklore import residual
from obliquetd.folklore import cut_traces
from obliquetd.folklore import iterations
from obliquetd.folklore import samples

__all__ = ["PACK"]
