"""What the paper says, place by place, and what judges it.

A list, in our own words, of the numbered equations, definitions, lemmas, table rows and
sentences that state something. Each names its claims, or the reason why it has none. A test walks
the list: an entry with neither fails, and so does a claim of the paper that no entry names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["PLACES", "Place"]

BY_SIMULATION = "a sentence on experiments: judged by `obliquetd reproduce`, by simulation"
DEFINITION = "a definition: nothing is stated of it"
OTHERS = "a statement on other papers, or on what is in use: nothing that a computation decides"
AIM = "an aim or an outlook: nothing is stated"


@dataclass(frozen=True)
class Place:
    """One place of the paper.

    Attributes
    ----------
    kind : str
        equation, definition, lemma, proposition, algorithm, table row, display or sentence.
    where : str
        The section or the number.
    says : str
        In our words.
    claims : tuple of str
        The ids of the claims that judge it.
    reason : str
        Why there is none.
    """

    kind: str
    where: str
    says: str
    claims: tuple[str, ...] = ()
    reason: str = ""


def _read(text: str) -> Iterator[Place]:
    """Lines ``kind | where | what is said | claims, or (a reason)``."""
    reasons = {
        "(simulation)": BY_SIMULATION, "(definition)": DEFINITION, "(others)": OTHERS, "(aim)": AIM
    }  # fmt: skip
    for line in filter(None, map(str.strip, text.splitlines())):
        kind, where, says, judged = (part.strip() for part in line.split("|"))
        if judged.startswith("("):
            head, _, ours = judged.strip("()").partition("; at the fixed points, ours: ")
            reason = reasons.get(f"({head})", head)
            if ours:
                reason += f"; of the noise at the fixed points, exactly, our claims {ours}"
            yield Place(kind, where, says, (), reason)
        else:
            yield Place(kind, where, says, tuple(judged.split()))


PLACES: tuple[Place, ...] = tuple(
    _read(
        """
        sentence | Abstract | gradient TD and emphatic TD are off-policy stable | gtd2-off-policy-stable tdc-stable-for-large-mu etd-off-policy-stable
        sentence | Abstract | gradient TD and emphatic TD are not on-policy efficient | (simulation; at the fixed points, ours: gtd2-averaged-noise-is-td etd-averaged-noise-boyan etd-constant-step-noise-boyan etd-noise-two-state)
        sentence | Abstract | the new algorithms are off-policy stable | setd-off-policy-stable
        sentence | Abstract | the new algorithms are on-policy efficient | (simulation; at the fixed points, ours: setd-averaged-noise-boyan setd-constant-step-noise-boyan setd-least-noise-two-state)
        sentence | I | TD converges on-policy and may diverge off-policy | td-on-policy-stable td-diverges-two-state
        sentence | I | averagers store many examples; off-policy LSTD costs d^2 a step | (others)
        sentence | I | GTD and PGTD do worse on-policy than TD on small problems | (others)
        sentence | I | TD is known for its on-policy efficiency | (others)
        sentence | I | the algorithms cost linearly in d a step | cost-linear
        sentence | I | the off-policy stability is rigorously proved | setd-off-policy-stable
        equation | 1 | V is the unique fixed point of the Bellman operator | bellman-equation
        sentence | II-A | the importance ratio is pi over pi_b where pi_b is positive | (definition)
        equation | 2 | the TD solution is the fixed point of the projected Bellman equation | y-td
        sentence | II-A | TD error, Delta phi, and the covariance C | (definition)
        sentence | II-A | phi_i phi_i' is an unbiased estimate of C | c-hat-unbiased
        sentence | II-B | the rows of Phi and X are bases of the range and of the complement | rows-are-basis
        definition | 1 | the oblique projection projects onto span(Phi), orthogonally to span(X) | projection-range-and-null-space
        sentence | II-B | it is idempotent | projection-idempotent
        sentence | II-B | it reduces to an orthogonal projection | projection-orthogonal
        sentence | II-B | the weighted least-squares projection is oblique, with X = Xi Phi | least-squares-projection-is-oblique
        sentence | II-B | {phi(s)} is a basis of span(Phi), {xi(s) phi(s)} of span(Xi Phi) | rows-are-basis rows-of-xi-phi-are-basis
        equation | 3 | the oblique projected fixed-point equation | (definition)
        sentence | II-B | the oblique TD aims to minimise the distance between the projected backup and the estimate | (aim)
        lemma | 1 | Pi V is the best approximation | lemma-1-best
        lemma | 1 | it is also the solution of the equation with X* | lemma-1 lemma-1-the-solution lemma-1-existence
        equation | 4 | X* = L^-T Xi Phi | lemma-1
        sentence | Lemma 1, proof | the solution is the projection of V along L'X | lemma-1-identity
        sentence | Lemma 1, proof | letting the projections be equal, L'X* = Xi Phi | lemma-1-let
        sentence | II-C | X* is intractable, since P is not known | (others)
        sentence | II-C | Y* = Xi^-1 X* | (definition)
        sentence | II-C | TD has Y = Phi and RG has Y = L Phi | y-td y-rg
        sentence | II-C | the conditions are necessary for existence | lemma-2-necessary
        equation | 5 | the weighted oblique projected Bellman equation | (definition)
        lemma | 2 | under the two conditions theta solves it | lemma-2-sufficient
        equation | 6 | theta = (Y'Xi L Phi)^-1 Y'Xi R | lemma-2-sufficient
        sentence | Lemma 2, proof | a chain of equivalences | lemma-2-equivalences
        sentence | III-A | TD has instability issues off-policy | td-diverges-two-state
        sentence | III-A | TD's solution is highly sensitive to off-policyness | ("sensitive" and "off-policyness" are not measured there)
        sentence | III-A | Pi V is always unique and stable | best-unique-and-stable
        sentence | III-A | closeness to Pi V gives off-policy stability | closeness-means-stability
        sentence | III-A | closeness to Pi V means being less sensitive to off-policyness than TD | ("less sensitive" is not defined there; closeness-means-stability shows that stability does not follow)
        equation | 7 | Lambda'X* = C | criterion-of-x-star
        proposition | 1 | the criterion and full row rank give Y = Y* | proposition-1
        sentence | Proposition 1, proof | a chain of equivalences | proposition-1
        sentence | III-B | the rank condition is restrictive in applications | (others)
        display | III-C | Omega* minimises the distance to X*, and is impossible to compute since X* is not known | (a definition, with the remark that the model is not known; the closed form is our claim omega-star-closed-form)
        equation | 8 | Omega_S minimises the batch criterion | (a definition; relaxation-is-batch-minimizer is ours)
        display | III-C | Lambda'Xi Omega Phi is estimated by the mean of omega_i Delta phi_i phi_i' | sample-estimate-of-lambda
        sentence | III-C | positive weights are desirable | (aim)
        sentence | III-C | the relaxed objective comes from the triangle inequality | triangle-bound
        display | III-C | omega_i minimises its own term, omega >= 0 | omega-closed-form
        equation | 9 | the closed form of omega_i, for every i | omega-closed-form omega-always-defined
        lemma | 3 | a rank-one pq' has the one nonzero eigenvalue p'q | lemma-rank-one-eigenvalues
        lemma | 4 | a rank-one uv' has the one nonzero singular value norm(u) norm(v) | lemma-rank-one-norms
        equation | 10 | trace norm, Frobenius norm and the singular value agree | lemma-rank-one-norms
        sentence | Lemma 4, proof | the eigenvalues of M'M | lemma-rank-one-norms
        equation | 11 | the trace-norm minimisation | norm-minimizers-agree
        equation | 12 | it minimises the norm of q | norm-minimizers-agree
        equation | 13 | the Frobenius minimisation | norm-minimizers-agree
        equation | 14 | both minimise the squared norm of omega Delta phi - phi | norm-minimizers-agree
        sentence | III-C | zeroing the gradient gives Eq. (9) | omega-by-zeroing-gradient
        sentence | III-C | Eq. (9) is the weight of phi projected onto Delta phi | omega-by-zeroing-gradient
        sentence | III-C | pi is the behaviour policy and pi_b the target | policy-names-swapped
        display | III-C | the mean under pi is the mean under pi_b with the ratio | importance-weighting
        equation | 15 | the update of SETD | (definition)
        algorithm | 1 | SETD | (definition)
        sentence | III-C | a step costs O(d) | cost-linear
        display | III-D | the weighted return, and its operator | lambda-return-expectation
        display | III-D | b - A theta, in two forms | lambda-td-equation setd-expected-update
        display | III-D | the operator P_xi^pi, and what it is | lambda-return-expectation trace-form
        display | III-D | the recursion of delta^{lambda rho} | delta-recursion
        display | III-D | E[(rho - 1) phi'theta] = 0 | rho-minus-one
        display | III-D | the first (rho - 1) term drops out | rho-minus-one-with-omega
        display | III-D | the index moves from t + 1 to t | index-shift
        display | III-D | the second (rho - 1) term drops out | second-rho-minus-one
        display | III-D | the series is the trace | trace-unrolled
        display | III-D | forward and backward view agree | trace-form setd-lambda-forward-view
        equation | 16 | the weight w_t of SETD(lambda) | omega-closed-form omega-always-defined
        algorithm | 2 | SETD(lambda) | (definition)
        sentence | IV | Retrace shares the motivation | (others)
        sentence | IV | ETD is a weighted oblique projection with Y_E = Omega_E Phi | f-is-limit-of-trace
        display | IV | the recursion for Omega_E and the update of ETD | (definition)
        display | IV | the power series of L^-1 | power-series
        sentence | IV | X_E should be close to X*, especially the diagonal elements | (aim)
        sentence | IV | the trace is that of the emphatic TD paper, and others saw ETD as a projection | (others)
        sentence | IV | f is the diagonal of X_E | f-is-diagonal-of-x
        display | IV | f is a power series | power-series f-is-limit-of-trace
        display | IV | f_i = xi(i) lim E[Omega_E given s_i] | f-is-limit-of-trace
        sentence | IV | ETD requires sequential sampling, SETD does not | sequential-sampling
        sentence | IV | ETD is not suitable for samples from many episodes | etd-many-episodes
        display | IV, example | P_pi | two-state-P-pi
        display | IV, example | L_pi | two-state-L-pi
        display | IV, example | X* | two-state-X-star
        sentence | IV, example | X with Omega_E and Omega_S are for SETD and ETD, respectively | omega-names-swapped
        sentence | IV, example | f_ETD is the diagonal of Omega_E | f-is-diagonal-of-omega
        display | IV, example | f_ETD and its series | two-state-f
        equation | 17 | Omega_E | two-state-Omega-E
        equation | 18 | X_E | two-state-X-E
        equation | 19 | Omega_S | two-state-Omega-S
        equation | 20 | X_S | two-state-X-S
        sentence | IV, example | TD diverges on this domain | td-diverges-two-state
        sentence | IV, example | TD's solution is the upper bound | td-upper-bound
        equation | 21 | Omega_TD = I | y-td
        equation | 22 | X_TD | two-state-X-TD
        display | IV, example | TD's criterion is the squared norm of gamma Phi''Xi Phi | td-identity
        sentence | IV, example | SETD performs better than ETD in the estimate of X* | setd-better-by-criterion setd-better-by-distance
        table row | I, SETD | 0.25 and 4.5277 | table-1-setd
        table row | I, ETD | 0.64 and 5.0062 | table-1-etd
        table row | I, TD | 7.29 and 13.5 | table-1-td
        table row | II, alpha | the step sizes tried | (a set-up: `reproduce --sweep` runs it)
        table row | II, mu | the ratios tried | (a set-up: `reproduce --sweep` runs it)
        table row | II, lambda | the trace parameters tried | (a set-up: `reproduce --sweep` runs it)
        display | V | RMSE and RMSPBE | (a definition; rmspbe-two-forms is ours)
        sentence | V-A, Boyan chain | SETD tends to be fastest, with similar steady states | (simulation; at the fixed points, ours: setd-steady-spread-boyan)
        sentence | V-A, mountain car | TD is slightly better than SETD and ETD | (simulation)
        sentence | V-A, mountain car | TDC and GTD2 converge slowly | (simulation)
        sentence | V-B, Baird | TDC has the largest variance, SETD a larger one than GTD2 | (simulation; at the fixed points, ours: noise-ordered-on-star setd-noisier-than-gtd2-boyan)
        sentence | V-B, Baird | SETD has errors and a variance far below those of GTD2 | (simulation; at the fixed points, ours: noise-ordered-on-star)
        sentence | V-B, Baird | the low variance of GTD2 is explained by the stochastic gradient method | (others)
        sentence | V-B, random MDP | ETD is very sensitive to step sizes | etd-sensitive-to-step-sizes
        sentence | V-B, random MDP | ETD tends to diverge with a large step size, which makes it slow | (simulation)
        sentence | V-B, random MDP | SETD does better than GTD2 and ETD, with a larger variance | (simulation)
        sentence | V, last paragraph | a relatively large variance in the initial phase | setd-large-initial-variance
        sentence | V, last paragraph, (1) | SETD is off-policy convergent | setd-off-policy-stable
        sentence | V, last paragraph, (2) | SETD is much faster than GTD2 and TDC | (simulation)
        sentence | V, last paragraph, (3) | SETD is less sensitive to step sizes than ETD | (simulation)
        sentence | VI | experiments showed the effectiveness | (simulation)
        sentence | VI | the criteria so far are Proposition 1 and the power series | (others)
        sentence | VI | sample complexity, other criteria and true-online variants are left | (aim)
        """
    )
)
"""Every place, in the paper's order."""
