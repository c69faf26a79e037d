"""Proofs that a kernel accepts: writing text for Coq, and having Coq check it.

:func:`check_text` and :func:`check_file` run ``coqc`` on a file and say whether it was accepted, and what
each theorem rests on. :class:`Names`, :func:`comment` and :func:`scalar_text` write what Coq
reads. The files in ``proofs/`` ship with the package: :data:`PRELUDE` stands at the head of every
generated file, the others are proofs written by hand (:func:`shipped`).
"""

from obliquetd.kernel.coqc import Answer, check_file, check_text, find_coqc
from obliquetd.kernel.text import (
    PRELUDE,
    Names,
    certificate_head,
    comment,
    proof_text,
    scalar_text,
    shipped,
)

__all__ = [
    "PRELUDE",
    "Answer",
    "Names",
    "certificate_head",
    "check_file",
    "check_text",
    "comment",
    "find_coqc",
    "proof_text",
    "scalar_text",
    "shipped",
]
