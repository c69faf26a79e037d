"""Loops written by hand for one rule each, as peers of the compiled rules."""

import numba
import numpy as np

from obliquetd.learners.compiled import SUMS

fast = numba.njit(nogil=True, error_model="numpy", fastmath=SUMS)


@fast
def gtd(theta, w, features, state, next_state, reward, discount, rho, rows, alpha, beta, lam):
    d = len(theta)
    e = np.zeros(d)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta, ew = reward[i], 0.0
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
            e[k] = ratio * (decay * e[k] + features[s, k])
            ew += e[k] * w[k]
        for k in range(d):
            theta[k] += alpha * (features[s, k] - g * features[n, k]) * ew
            w[k] += beta * (delta * e[k] - w[k])
        decay = g * lam


@fast
def htd(theta, w, features, state, next_state, reward, discount, rho, rows, alpha, beta, lam):
    d = len(theta)
    e, u = np.zeros(d), np.zeros(d)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta, ew, uw = reward[i], 0.0, 0.0
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
            e[k] = ratio * (decay * e[k] + features[s, k])
            u[k] = decay * u[k] + features[s, k]
            ew += e[k] * w[k]
            uw += u[k] * w[k]
        for k in range(d):
            gap = features[s, k] - g * features[n, k]
            theta[k] += alpha * (delta * e[k] + (ew - uw) * gap)
            w[k] += beta * (delta * e[k] - uw * gap)
        decay = g * lam


@fast
def tdrc(theta, w, features, state, next_state, reward, discount, rho, rows, alpha, beta, lam):
    d = len(theta)
    e = np.zeros(d)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta, pw, ew = reward[i], 0.0, 0.0
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
            e[k] = ratio * (decay * e[k] + features[s, k])
            pw += features[s, k] * w[k]
            ew += e[k] * w[k]
        for k in range(d):
            theta[k] += alpha * (delta * e[k] - g * (1 - lam) * ew * features[n, k])
            w[k] += beta * (delta * e[k] - pw * features[s, k] - w[k])
        decay = g * lam


@fast
def gtd2_mp(theta, w, features, state, next_state, reward, discount, rho, rows, alpha, beta, lam):
    """The half step kept in arrays, as the source writes it."""
    d = len(theta)
    e, half_theta, half_w = np.zeros(d), np.zeros(d), np.zeros(d)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta, pw, ew = reward[i], 0.0, 0.0
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
            e[k] = ratio * (decay * e[k] + features[s, k])
            pw += features[s, k] * w[k]
            ew += e[k] * w[k]
        half, half_pw, half_ew = reward[i], 0.0, 0.0
        for k in range(d):
            gap = features[s, k] - g * features[n, k]
            half_theta[k] = theta[k] + alpha * gap * ew
            half_w[k] = w[k] + beta * (delta * e[k] - pw * features[s, k])
            half -= gap * half_theta[k]
            half_pw += features[s, k] * half_w[k]
            half_ew += e[k] * half_w[k]
        for k in range(d):
            theta[k] += alpha * (features[s, k] - g * features[n, k]) * half_ew
            w[k] += beta * (half * e[k] - half_pw * features[s, k])
        decay = g * lam


@fast
def v_trace(theta, e, features, state, next_state, reward, discount, rho, rows, alpha, lam):
    d = len(theta)
    decay = 0.0
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], min(rho[i], 1.0)
        delta = reward[i]
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
        step = alpha * ratio * delta
        for k in range(d):
            e[k] = decay * e[k] + features[s, k]
            theta[k] += step * e[k]
        decay = g * lam * ratio


@fast
def n_step(theta, unused, features, state, next_state, reward, discount, rho, rows, alpha, n_steps):
    """The last n states by their rows, and the product of what decays each."""
    d = len(theta)
    last, weight = np.zeros(n_steps, dtype=np.int64), np.zeros(n_steps)
    for t in range(len(rows)):
        i = rows[t]
        s, n, g, ratio = state[i], next_state[i], discount[i], rho[i]
        delta = reward[i]
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
        for j in range(n_steps - 1, 0, -1):
            last[j], weight[j] = last[j - 1], weight[j - 1]
        last[0], weight[0] = s, 1.0
        step = alpha * ratio * delta
        for j in range(n_steps):
            for k in range(d):
                theta[k] += step * weight[j] * features[last[j], k]
            weight[j] *= g * ratio


@fast
def regularized(
    theta, unused, features, state, next_state, reward, discount, rho, rows, alpha, eta
):
    d = len(theta)
    for t in range(len(rows)):
        i = rows[t]
        s, n, g = state[i], next_state[i], discount[i]
        delta = reward[i]
        for k in range(d):
            delta += (g * features[n, k] - features[s, k]) * theta[k]
        step = alpha * rho[i] * delta
        for k in range(d):
            theta[k] += step * features[s, k] - alpha * eta * theta[k]
