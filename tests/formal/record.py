"""Have coqc check the file of every claim that has one, and compare with the record, or write it.

python -m tests.formal.record            # check: every file is as recorded, and accepted
python -m tests.formal.record --write    # after a change: check, and record the new hashes
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import obliquetd
from obliquetd.claims import PACKS, pack_of
from obliquetd.claims.formal import RECORD, digest, formal_text, recorded
from obliquetd.kernel import check_text, find_coqc

PLACE = Path(obliquetd.__file__).parent / "kernel" / "proofs" / RECORD


def main(write):
    """Exit status 1 where a file is refused, or is not the one recorded."""
    if find_coqc() is None:
        print(
            "no coqc on this machine: the proofs were NOT checked by Coq (apt install coq libcoq-mathcomp-algebra)"
        )
        return 0
    claims = [c for name in PACKS for c in pack_of(name).registry]
    texts = {c.id: formal_text(c) for c in claims if c.formal}
    distinct = {digest(text): text for text in texts.values()}
    with ThreadPoolExecutor(2) as pool:  # coqc is a process of its own
        answers = dict(
            zip(
                distinct,
                pool.map(lambda t: check_text(t, timeout=600), distinct.values()),
                strict=True,
            )
        )
    found, bad = {}, []
    for name, text in texts.items():
        answer = answers[digest(text)]
        found[name] = {"sha256": digest(text), "coq": answer.version}
        changed = recorded().get(name, {}).get("sha256") != digest(text)
        said = "accepted" if answer.accepted else f"REFUSED: {answer.message}"
        print(
            f"{name}: {said}{', and not as recorded' if changed and not write else ''} ({answer.seconds:.1f} s)"
        )
        if not answer.accepted or (changed and not write):
            bad.append(name)
    if write and not bad:
        PLACE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    print(f"{len(texts) - len(bad)} of {len(texts)} claims' files are accepted as recorded")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
