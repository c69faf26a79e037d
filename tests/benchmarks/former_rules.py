"""The rules and the driver of version 0.1.0, as a yardstick: one rule a family, told apart by codes."""

import types

import numba

from obliquetd.learners.compiled import SUMS

TD_CODE, SETD_CODE, ETD_CODE = 0, 1, 2
CORRECTED, WEIGHTED = 1, 2
HUGE = 1e150
OPTIONS = {"error_model": "numpy", "fastmath": SUMS, "nogil": True}
INLINE = numba.njit(inline="always", **OPTIONS)


@INLINE
def omega(features, s, n, g):
    up = 0 * g
    down = 0 * g
    for i in range(features.shape[1]):
        difference = features[s, i] - g * features[n, i]
        up += difference * features[s, i]
        down += difference * difference
    if down == 0:
        return up
    if up > 0:
        return up / down
    return 0 * up


@INLINE
def emphasis(code, features, s, n, g, follow_on, lam):
    if code == SETD_CODE:
        return omega(features, s, n, g)
    if code == ETD_CODE:
        return lam + (1 - lam) * follow_on
    return 1 + 0 * g


@INLINE
def emphatic_step(
    code, theta, w, memory, features, s, n, reward,
    g, rho, twin, g_twin, rho_twin, alpha, beta, lam,
):  # fmt: skip
    d = len(theta)
    delta = reward
    for i in range(d):
        delta += (g * features[n, i] - features[s, i]) * theta[i]
    follow_on = 1 + 0 * g
    if code == ETD_CODE:
        follow_on += memory[d]
        memory[d] = g * rho * follow_on
    m = emphasis(code, features, s, n, g, follow_on, lam)
    for i in range(d):
        trace = rho * (memory[i] + m * features[s, i])
        theta[i] += alpha * delta * trace
        memory[i] = g * lam * trace
    return delta


@INLINE
def gradient_step(
    code, theta, w, memory, features, s, n, reward,
    g, rho, twin, g_twin, rho_twin, alpha, beta, lam,
):  # fmt: skip
    d = len(theta)
    delta = reward
    trace_w = 0 * g
    phi_w = 0 * g
    for i in range(d):
        delta += (g * features[n, i] - features[s, i]) * theta[i]
        memory[i] = rho * (memory[i] + features[s, i])
        trace_w += memory[i] * w[i]
        phi_w += features[s, i] * w[i]
    if code & WEIGHTED:
        phi_w = rho * phi_w
    for i in range(d):
        trace = memory[i]
        if code & CORRECTED:
            theta[i] += alpha * (delta * trace - g * (1 - lam) * trace_w * features[n, i])
        else:
            theta[i] += alpha * (features[s, i] - g * features[n, i]) * trace_w
        w[i] += beta * (delta * trace - phi_w * features[s, i])
        memory[i] = g * lam * trace
    return delta


step = None


def drive(
    code, theta, w, memory, features, state, next_state,
    reward, discount, rho, rows, twins, fresh, alphas,
    ratio, lam, every, record,
):  # fmt: skip
    for t in range(len(rows)):
        i, k = rows[t], twins[t]
        if fresh[t]:
            memory[:] = 0.0
        delta = step(
            code, theta, w, memory, features, state[i], next_state[i], reward[i], discount[i],
            rho[i], next_state[k], discount[k], rho[k], alphas[t], alphas[t] * ratio, lam,
        )  # fmt: skip
        if not -HUGE < delta < HUGE:
            return t
        if (t + 1) % every == 0:
            record[(t + 1) // every] = theta
    return -1


def former_driver(step):
    """The driver around one of the two rules, compiled."""
    return numba.njit(**OPTIONS)(types.FunctionType(drive.__code__, {**globals(), "step": step}))


FORMER = {
    "td": (emphatic_step, TD_CODE),
    "setd": (emphatic_step, SETD_CODE),
    "etd": (emphatic_step, ETD_CODE),
    "gtd2": (gradient_step, 0),
    "tdc": (gradient_step, CORRECTED),
}
