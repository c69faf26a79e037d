"""Random problems for hypothesis: every draw is a valid problem, and shrinks to a small one."""

from fractions import Fraction

from hypothesis import strategies as st

from obliquetd import MDP, Policy, PolicyEvaluation


@st.composite
def distributions(draw, size, full=False):
    weights = draw(st.lists(st.integers(int(full), 3), min_size=size, max_size=size).filter(any))
    return [Fraction(w, sum(weights)) for w in weights]


@st.composite
def mdps(draw, most_states=4, most_actions=3):
    """Stochastic or deterministic, periodic, reducible, with restarts or terminal states."""
    n = draw(st.integers(1, most_states))
    k = draw(st.integers(1, most_actions))
    rows = []
    for s in range(n):
        for a in range(k):
            if draw(st.booleans()):
                chances = [Fraction(int(t == draw(st.integers(0, n - 1)))) for t in range(n)]
                if sum(chances) != 1:
                    chances = [Fraction(int(t == 0)) for t in range(n)]
            else:
                chances = draw(distributions(n))
            for t, p in enumerate(chances):
                if p:
                    discount = draw(st.sampled_from([1, 1, 1, 0, Fraction(1, 2)]))
                    rows.append((s, a, t, p, draw(st.integers(-3, 3)), discount))
    return MDP.from_transitions(rows, states=range(n), actions=range(k))


@st.composite
def problems(draw, discount=Fraction(9, 10), **kwargs):
    """Off-policy with full behaviour; the chain may have several classes, so weights are given."""
    mdp = draw(mdps(**kwargs))
    k, n = len(mdp.actions), len(mdp.states)

    def policy(full):
        return Policy(
            {
                s: dict(zip(mdp.actions, draw(distributions(k, full)), strict=True))
                for s in mdp.states
            }
        )

    d = draw(st.integers(1, n))
    features = draw(
        st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=n, max_size=n)
    )
    return PolicyEvaluation(
        mdp,
        target=policy(False),
        behavior=policy(True),
        features=features,
        discount=discount,
        xi=draw(distributions(n, full=draw(st.booleans()))),
    )
