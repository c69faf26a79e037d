"use strict";
// The numbers of an exploration. Every one that is shown is computed in integers of any length from the exact
// rational functions, at the rational place of each slider; doubles place points and lines on the screen alone.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const COUNT = data.sliders.length;
const DIGITS = 6;

// --- exact numbers: {n, d} with d > 0, in lowest terms where they are shown ---------------------------------

const abs = (x) => (x < 0n ? -x : x);
function gcd(a, b) { a = abs(a); b = abs(b); while (b) [a, b] = [b, a % b]; return a; }
function ratio(n, d) { return d < 0n ? {n: -n, d: -d} : {n, d}; }
function lowest(x) { const g = gcd(x.n, x.d) || 1n; return {n: x.n / g, d: x.d / g}; }
function parse(text) { const [n, d] = text.split("/"); return {n: BigInt(n), d: BigInt(d || "1")}; }
const plus = (a, b) => ({n: a.n * b.d + b.n * a.d, d: a.d * b.d});
const minus = (a, b) => ({n: a.n * b.d - b.n * a.d, d: a.d * b.d});
const times = (a, b) => ({n: a.n * b.n, d: a.d * b.d});
const over = (a, b) => ratio(a.n * b.d, a.d * b.n);
const sign = (a) => (a.n > 0n ? 1 : a.n < 0n ? -1 : 0);
const compare = (a, b) => sign(minus(a, b));
const whole = (k) => ({n: BigInt(k), d: 1n});
const bits = (x) => abs(x).toString(16).length * 4;

function double(x) {
  if (x.n === 0n) return 0;
  const shift = bits(x.n) - bits(x.d) - 64;
  const q = shift > 0 ? x.n / (x.d << BigInt(shift)) : (x.n << BigInt(-shift)) / x.d;
  return shift < -1000 ? Number(q) * 2 ** -1000 * 2 ** (shift + 1000) : Number(q) * 2 ** shift;
}

function root(x) { // the whole part of the square root
  if (x < 2n) return x;
  let r = 1n << BigInt((x.toString(2).length + 1) >> 1);
  for (;;) { const s = (r + x / r) >> 1n; if (s >= r) return r; r = s; }
}
const ten = (k) => 10n ** BigInt(k);

// m * 10^(e - digits + 1) as text: never more digits than were computed
function decimal(negative, m, e, digits) {
  let all = m.toString();
  if (all.length > digits) { all = all.slice(0, -1); e += 1; } // rounded up to a power of ten
  let text;
  if (e >= -4 && e < 7) {
    if (e < 0) text = "0." + "0".repeat(-e - 1) + all;
    else if (e + 1 >= all.length) text = all + "0".repeat(e + 1 - all.length);
    else text = all.slice(0, e + 1) + "." + all.slice(e + 1);
    if (text.includes(".")) text = text.replace(/\.?0+$/, "");
  } else {
    const rest = all.slice(1).replace(/0+$/, "");
    text = all[0] + (rest ? "." + rest : "") + "e" + e;
  }
  return (negative ? "-" : "") + text;
}

// A rational to so many digits, correctly rounded; whether that is all of it
function rounded(x, digits = DIGITS) {
  if (x.n === 0n) return {text: "0", exact: true};
  const n = abs(x.n);
  let e = n.toString().length - x.d.toString().length;
  if (e >= 0 ? n < x.d * ten(e) : n * ten(-e) < x.d) e -= 1;
  const k = digits - 1 - e;
  const above = k >= 0 ? n * ten(k) : n, below = k >= 0 ? x.d : x.d * ten(-k);
  let m = above / below;
  const left = above % below;
  if (2n * left >= below) m += 1n;
  return {text: decimal(x.n < 0n, m, e, digits), exact: left === 0n};
}

// The square root of a rational that is not negative
function rootOf(x) {
  const y = lowest(x), n = root(y.n), d = root(y.d);
  if (n * n === y.n && d * d === y.d) return {rational: {n, d}};
  let e = Math.floor((y.n.toString().length - y.d.toString().length) / 2) + 1, m, k;
  for (;; e -= 1) {
    k = DIGITS - 1 - e;
    m = k >= 0 ? root((y.n * ten(2 * k)) / y.d) : root(y.n / (y.d * ten(-2 * k)));
    if (m >= ten(DIGITS - 1)) break;
  }
  const half = (2n * m + 1n) ** 2n;
  if (k >= 0 ? half * y.d <= 4n * y.n * ten(2 * k) : half * y.d * ten(-2 * k) <= 4n * y.n) m += 1n;
  return {square: y, text: decimal(false, m, e, DIGITS)};
}

// --- formulas at a place of the sliders ---------------------------------------------------------------------

const polynomials = data.table.polynomials.map(([degrees, c, e]) => ({degrees, c: c.map(BigInt), e}));
const places = data.sliders.map((s) => s.places.map(parse));

class Place {
  constructor(at) {
    this.at = at;
    this.values = at.map((i, v) => places[v][i]);
    this.powers = this.values.map(({n, d}) => [[1n], [1n], n, d]);
    this.known = new Map();
    this.evaluated = new Map();
  }
  power(v, side, k) {
    const list = this.powers[v][side], base = this.powers[v][2 + side];
    while (list.length <= k) list.push(list[list.length - 1] * base);
    return list[k];
  }
  polynomial(i) { // times the denominators of the symbols to its degrees
    let value = this.evaluated.get(i);
    if (value !== undefined) return value;
    const {degrees, c, e} = polynomials[i];
    value = 0n;
    for (let t = 0; t < c.length; t++) {
      let term = c[t];
      for (let v = 0; v < COUNT; v++)
        if (degrees[v]) term *= this.power(v, 0, e[t][v]) * this.power(v, 1, degrees[v] - e[t][v]);
      value += term;
    }
    this.evaluated.set(i, value);
    return value;
  }
  formula(i) { // null where it divides by zero
    let value = this.known.get(i);
    if (value !== undefined) return value;
    const [above, below] = data.table.formulas[i];
    let n = this.polynomial(above), d = this.polynomial(below);
    if (d === 0n) value = null;
    else {
      for (let v = 0; v < COUNT; v++) {
        n *= this.power(v, 1, polynomials[below].degrees[v]);
        d *= this.power(v, 1, polynomials[above].degrees[v]);
      }
      value = lowest(ratio(n, d));
    }
    this.known.set(i, value);
    return value;
  }
  all(list) { return list === null ? null : list.map((i) => this.formula(i)); }
  // Why no number may be shown here: no model, or a formula that need not hold
  get refused() {
    if (this._refused === undefined) this._refused = this.reason();
    return this._refused;
  }
  reason() {
    if (COUNT === 1 && invalid.has(this.at[0])) return "There is no model here: a probability, a discount or a weight leaves its range.";
    for (const [f, low, high, leftOpen, rightOpen] of data.limits) {
      const x = this.formula(f);
      if (x === null) return "There is no model here: a formula of the model divides by zero.";
      const below = low !== null && (compare(x, parse(low)) < 0 || (leftOpen && compare(x, parse(low)) === 0));
      const above = high !== null && (compare(x, parse(high)) > 0 || (rightOpen && compare(x, parse(high)) === 0));
      if (below || above) return "There is no model here: a probability, a discount or a number of a learner leaves its range.";
    }
    if (COUNT > 1) for (const [p, why] of data.guards) {
      if (this.polynomial(p) === 0n) return `Here ${why}, so the formulas of this page need not hold, and no number is shown.`;
    }
    return "";
  }
  get shared() {
    const there = COUNT === 1 ? data.special[this.at[0]] : undefined;
    return there ? there[""] : data.shared;
  }
  learner(k) {
    const {name, cells} = data.learners[k];
    if (COUNT > 1) {
      const signOf = (f) => { const x = this.formula(f); return x === null ? null : sign(x); };
      const held = cells.find(([signs]) => signs.every(([f, wanted]) => signOf(f) === wanted));
      if (held && held[2].guards.some((p) => this.polynomial(p) === 0n))
        return {why: "The span of the updates may be smaller here than around, so the formulas need not hold, and no number is shown."};
      return held ? held[2] : {why: "A case distinction of the learner changes here, or is a case that this page has no formulas for."};
    }
    const there = data.special[this.at[0]];
    if (there) return there[name] || there[""];
    const cell = cells.find(([first, last]) => first <= this.at[0] && this.at[0] <= last);
    return cell ? cell[2] : {why: "no formula holds here"};
  }
  roots(k) {
    this.found = this.found || [];
    if (this.found[k] === undefined) {
      const q = this.learner(k);
      this.found[k] = q.p ? rootsOf(this.all(q.p)) : null;
    }
    return this.found[k];
  }
  verdict(k) {
    const q = this.learner(k);
    if (this.refused) return "no model";
    if (q.verdict) return q.verdict;
    if (!q.p) return "undefined";
    const p = this.all(q.p);
    return p.includes(null) ? "undefined" : verdictOf(p, () => this.roots(k));
  }
}
const invalid = new Set(data.invalid);

// --- eigenvalues: exact for one and two, proved discs for more ----------------------------------------------

const rational = (x) => ({kind: "rational", x, ...rounded(x), value: double(x)});

function rootsOf(p) { // p[0] = 1; null where a coefficient is undefined
  if (p.includes(null)) return null;
  let zeros = 0;
  while (p.length > 1 && sign(p[p.length - 1]) === 0) { p = p.slice(0, -1); zeros += 1; }
  const none = rational(whole(0));
  const rest = p.length === 1 ? [] : p.length === 2 ? [{re: rational({n: -p[1].n, d: p[1].d}), im: none}]
    : p.length === 3 ? quadratic(p[1], p[2]) : discs(p);
  if (rest === null) return null;
  return [...Array.from({length: zeros}, () => ({re: none, im: none})), ...rest].sort((a, b) => a.re.value - b.re.value);
}

function quadratic(b, c) { // x^2 + b x + c
  const none = rational(whole(0)), half = lowest({n: -b.n, d: 2n * b.d});
  const inner = lowest(minus(times(half, half), c));
  if (inner.n < 0n) {
    const im = rootOf({n: -inner.n, d: inner.d});
    const shown = im.rational ? rational(im.rational) : {kind: "root", square: im.square, text: im.text, exact: false, value: Number(im.text)};
    const lower = {...shown, text: "-" + shown.text, value: -shown.value, negative: true};
    return [{re: rational(half), im: shown}, {re: rational(half), im: lower}];
  }
  const s = rootOf(inner);
  if (s.rational) return [minus(half, s.rational), plus(half, s.rational)].map((x) => ({re: rational(lowest(x)), im: none}));
  return [-1n, 1n].map((side) => {
    for (let k = 20; ; k *= 2) { // more decimals until both ends round alike
      const r = root((inner.n * ten(2 * k)) / inner.d), unit = ten(k);
      const ends = [r, r + 1n].map((m) => plus(half, {n: side * m, d: unit}));
      const [a, b2] = ends.map((x) => rounded(x));
      if (a.text === b2.text) return {re: {kind: "surd", half, inner, side, text: a.text, exact: false, value: double(ends[0])}, im: none};
    }
  });
}

// Three and more: approximations by Weierstrass' corrections w, which are exact Gaussian integers over a power of two.
// Every root is in the union of the discs |z - z_i| <= n |w_i|, and k discs that hang together hold k roots (Smith 1970).
const BITS = 160;
function discs(p) {
  const n = p.length - 1;
  const scale = p.reduce((l, x) => (l * x.d) / gcd(l, x.d), 1n);
  const a = p.map((x) => (x.n * scale) / x.d); // whole coefficients, leading one first
  const z = start(p.map(double), n);
  if (z === null) return null;
  const B = BigInt(BITS);
  let at = z.map(([x, y]) => [fixed(x), fixed(y)]);
  let radii = null;
  for (let round = 0; round < 3; round++) { // each doubles the digits: 15, 30, then all of them
    const next = [];
    radii = [];
    for (let i = 0; i < n; i++) {
      let P = [a[0], 0n], power = 1n;
      for (let k = 1; k <= n; k++) {
        power <<= B;
        P = [P[0] * at[i][0] - P[1] * at[i][1] + a[k] * power, P[0] * at[i][1] + P[1] * at[i][0]];
      }
      let D = [a[0], 0n];
      for (let j = 0; j < n; j++) if (j !== i) {
        const g = [at[i][0] - at[j][0], at[i][1] - at[j][1]];
        D = [D[0] * g[0] - D[1] * g[1], D[0] * g[1] + D[1] * g[0]];
      }
      const size = D[0] * D[0] + D[1] * D[1];
      if (size === 0n) { next.push([at[i][0] + BigInt(i + 1), at[i][1] + 1n]); radii.push(null); continue; }
      radii.push(root((BigInt(n * n) * (P[0] * P[0] + P[1] * P[1])) / size) + 1n);
      next.push([at[i][0] - (P[0] * D[0] + P[1] * D[1]) / size, at[i][1] - (P[1] * D[0] - P[0] * D[1]) / size]);
    }
    if (round < 2) at = next;
  }
  if (radii.includes(null)) return null;
  return enclosed(at, radii);
}
function fixed(x) { // a double as a whole number of 2^-BITS
  if (!(Math.abs(x) > 2 ** -BITS)) return 0n;
  const e = Math.floor(Math.log2(Math.abs(x))), m = BigInt(Math.round(x * 2 ** (52 - e)));
  const shift = BITS + e - 52;
  return shift >= 0 ? m << BigInt(shift) : m >> BigInt(-shift);
}
function start(c, n) { // Aberth's iteration in doubles, from a circle that holds all roots
  if (!c.every(Number.isFinite)) return null;
  let radius = 0;
  for (let k = 1; k <= n; k++) radius = Math.max(radius, Math.abs(c[k]) ** (1 / k));
  let z = Array.from({length: n}, (_, k) => [radius * Math.cos((2 * Math.PI * k) / n + 0.4), radius * Math.sin((2 * Math.PI * k) / n + 0.4)]);
  const div = (a, b) => { const s = b[0] ** 2 + b[1] ** 2; return [(a[0] * b[0] + a[1] * b[1]) / s, (a[1] * b[0] - a[0] * b[1]) / s]; };
  for (let round = 0; round < 60; round++) {
    let moved = 0;
    z = z.map((x, i) => {
      let f = [c[0], 0], g = [0, 0];
      for (let k = 1; k <= n; k++) {
        g = [g[0] * x[0] - g[1] * x[1] + f[0], g[0] * x[1] + g[1] * x[0] + f[1]];
        f = [f[0] * x[0] - f[1] * x[1] + c[k], f[0] * x[1] + f[1] * x[0]];
      }
      if (f[0] === 0 && f[1] === 0) return x;
      const newton = div(g, f); // g / f
      let sum = newton;
      z.forEach((y, j) => { if (j !== i && (x[0] !== y[0] || x[1] !== y[1])) { const r = div([1, 0], [x[0] - y[0], x[1] - y[1]]); sum = [sum[0] - r[0], sum[1] - r[1]]; } });
      const step = div([1, 0], sum);
      if (!Number.isFinite(step[0]) || !Number.isFinite(step[1])) return x;
      moved = Math.max(moved, Math.hypot(...step));
      return [x[0] - step[0], x[1] - step[1]];
    });
    if (moved < 1e-15 * radius) break;
  }
  return z;
}
function enclosed(at, radii) {
  const n = at.length;
  const meet = (x, r, y, s) => (x[0] - y[0]) ** 2n + (x[1] - y[1]) ** 2n <= (r + s) ** 2n;
  const group = at.map((_, i) => i);
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) if (meet(at[i], radii[i], at[j], radii[j])) {
    const [from, to] = [group[i], group[j]];
    group.forEach((g, k) => { if (g === from) group[k] = to; });
  }
  return at.map((x, i) => {
    const mine = at.map((_, k) => k).filter((k) => group[k] === group[i]);
    const mirror = [x[0], -x[1]];
    const real = mine.length === 1 && at.every((y, j) => j === i || !meet(mirror, radii[i], y, radii[j]));
    const ends = [0, 1].map((c) => [
      mine.map((k) => at[k][c] - radii[k]).reduce((u, v) => (u < v ? u : v)),
      mine.map((k) => at[k][c] + radii[k]).reduce((u, v) => (u > v ? u : v)),
    ]);
    return {re: between(...ends[0]), im: real ? rational(whole(0)) : between(...ends[1])};
  });
}
function between(low, high) { // as many digits as both ends share
  const d = 1n << BigInt(BITS), ends = [{n: low, d}, {n: high, d}];
  const value = double({n: low + high, d: 2n * d});
  for (let digits = DIGITS; digits > 1; digits--) {
    const [a, b] = ends.map((x) => rounded(x, digits));
    if (a.text === b.text) return {kind: "between", text: a.text, exact: false, value, low: ends[0], high: ends[1]};
  }
  const room = rounded({n: high - low, d: 2n * d}, 1).text;
  const middle = low <= 0n && high >= 0n ? "0" : rounded({n: low + high, d: 2n * d}, 3).text;
  return {kind: "between", text: `${middle} ± ${room}`, exact: false, value, low: ends[0], high: ends[1]};
}

// --- the verdict: Routh's table of p(-x) in exact numbers ---------------------------------------------------

function verdictOf(p, roots) {
  const n = p.length - 1;
  if (n === 0) return "nothing moves";
  if (n === 1) return ["marginal", "stable", "unstable"].at(-sign(p[1]));
  if (n === 2) {
    const trace = -sign(p[1]), det = sign(p[2]);
    if (trace > 0 && det > 0) return "stable";
    return trace < 0 || det < 0 ? "unstable" : "marginal";
  }
  if (isStable(p)) return "stable";
  const found = roots();
  if (found === null) return "not stable";
  return found.some((z) => (z.re.kind === "rational" ? sign(z.re.x) : z.re.high ? sign(z.re.high) : Math.sign(z.re.value)) < 0) ? "unstable" : "not stable";
}
function isStable(p) {
  const turned = p.map((c, i) => (i % 2 ? {n: -c.n, d: c.d} : c));
  let upper = turned.filter((_, i) => i % 2 === 0), lower = turned.filter((_, i) => i % 2 === 1);
  for (let k = 1; k < p.length; k++) {
    if (!lower.length || sign(lower[0]) <= 0) return false;
    const ratioOf = over(upper[0], lower[0]), old = upper;
    upper = lower;
    lower = old.slice(1).map((u, i) => (i + 1 < upper.length ? lowest(minus(u, times(ratioOf, upper[i + 1]))) : u));
  }
  return true;
}

// --- numbers on the page ------------------------------------------------------------------------------------

const pretty = (text) => text.replace(/-/g, "−").replace(/e(−?)(\d+)/, "·10<sup>$1$2</sup>");
const LONGEST = 22;
function exactText(x) {
  if (x.kind === "rational") return x.x.d === 1n ? `${x.x.n}` : `${x.x.n}/${x.x.d}`;
  if (x.kind === "root") return `${x.negative ? "-" : ""}sqrt(${x.square.n}/${x.square.d})`;
  if (x.kind === "surd") return `${x.half.n}/${x.half.d}${x.side < 0n ? "-" : "+"}sqrt(${x.inner.n}/${x.inner.d})`;
  return "";
}
function shown(x) {
  const exact = exactText(x);
  const tag = (inner) => `<span class="number" data-exact="${exact}" data-decimal="${x.text}">${inner}</span>`;
  if (x.kind === "rational") {
    if (x.x.d === 1n && exact.length <= 9) return tag(pretty(exact));
    const sense = x.exact ? "=" : "≈";
    if (exact.length <= LONGEST) return tag(`${pretty(exact)} <span class="soft">${sense} ${pretty(x.text)}</span>`);
    return tag(`<span title="${exact.length <= 400 ? exact : `an exact fraction of ${exact.length} letters`}">${sense} ${pretty(x.text)}</span>`);
  }
  if (x.kind === "root") {
    const usual = usualRoot(x.square);
    if (usual.length <= LONGEST) return tag(`${x.negative ? "−" : ""}${usual} <span class="soft">≈ ${pretty(x.text)}</span>`);
  }
  return tag(`<span title="${exact.length <= 400 ? exact : ""}">≈ ${pretty(x.text)}</span>`);
}
function usualRoot({n, d}) { // sqrt(n/d) as a √b / c, the squares of small primes taken out
  let outside = 1n, inside = n * d;
  if (inside.toString().length > 40) return "√".repeat(LONGEST + 1);
  const below = root(d);
  let c = d;
  if (below * below === d) { inside = n; c = below; }
  for (let q = 2n; q < 1000n && q * q <= inside; q += 1n)
    while (inside % (q * q) === 0n) { inside /= q * q; outside *= q; }
  const g = gcd(outside, c);
  outside /= g; c /= g;
  return `${outside === 1n ? "" : outside}√${inside}${c === 1n ? "" : `/${c}`}`;
}
function shownRoot(square) {
  const r = rootOf(square);
  return shown(r.rational ? rational(r.rational) : {kind: "root", square: r.square, text: r.text, exact: false, value: Number(r.text)});
}
function shownRoots(found) {
  if (found === null) return "not computed here";
  const out = [], texts = new Map();
  for (const z of found) {
    if (z.im.kind === "rational" && z.im.x.n === 0n) { add(shown(z.re)); continue; }
    if (z.im.value < 0) continue; // told with its mirror image
    if (z.re.text.includes("±") || z.im.text.includes("±")) { add(`${shown(z.re)}, imaginary part ${shown(z.im)}`); continue; }
    const whole = z.re.kind === "rational" && z.re.exact && z.im.kind === "rational" && z.im.exact;
    const bare = (x) => `<span class="number" data-exact="${exactText(x)}" data-decimal="${x.text}" title="${exactText(x).slice(0, 400)}">${pretty(x.text)}</span>`;
    add(`${whole ? "" : "≈ "}${bare(z.re)} ± ${bare(z.im)} <i>i</i>`);
  }
  function add(text) { texts.set(text, (texts.get(text) || 0) + 1); }
  for (const [text, times] of texts) out.push(times > 1 ? `${text} <span class="soft">(${times} times)</span>` : text);
  return out.join("<br>") || "none";
}

// --- what is drawn ------------------------------------------------------------------------------------------

const NS = "http://www.w3.org/2000/svg";
function element(name, attributes, parent, text) {
  const made = document.createElementNS(NS, name);
  for (const [k, v] of Object.entries(attributes)) made.setAttribute(k, v);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
const f1 = (x) => x.toFixed(1);
const bounded = (x) => Math.max(-1e5, Math.min(1e5, x));
const doubles = (place, list) => place.all(list).map((x) => (x === null ? NaN : double(x)));
const SIZE = 400;

// The plane of two states: v, the span of the features, and the line along which each learner projects
class Plane {
  static fits() { return data.states.length === 2 && data.shared.Phi[0].length === 1; }
  constructor(svg) {
    this.half = 1.75;
    element("rect", {class: "frame", x: 0, y: 0, width: SIZE, height: SIZE}, svg);
    const box = element("clipPath", {id: "inside"}, element("defs", {}, svg));
    element("rect", {x: 0, y: 0, width: SIZE, height: SIZE}, box);
    const all = element("g", {"clip-path": "url(#inside)"}, svg);
    element("path", {class: "grid", d: `M${SIZE / 2} 0V${SIZE}M0 ${SIZE / 2}H${SIZE}`}, all);
    element("circle", {class: "grid", cx: SIZE / 2, cy: SIZE / 2, r: SIZE / 2 / this.half}, all);
    this.span = element("path", {class: "span"}, all);
    this.lines = data.learners.map((x) => element("path", {class: "projection", stroke: x.color}, all));
    this.rays = data.learners.map((x) => element("path", {class: "ray", stroke: x.color}, all));
    this.drop = element("path", {class: "drop"}, all);
    this.foot = element("circle", {class: "foot", r: 4.5}, all);
    this.dots = data.learners.map((x) => element("circle", {class: "dot", r: 6.5, fill: x.color}, all));
    this.v = element("path", {class: "star"}, all);
    this.name = element("text", {class: "letter"}, all, "v");
    this.away = data.learners.map((x) => element("text", {class: "away", fill: x.color}, svg));
    element("text", {class: "axis", x: SIZE - 6, y: SIZE / 2 - 6, "text-anchor": "end"}, svg, `state ${short(data.states[0])}`);
    element("text", {class: "axis", x: SIZE / 2 - 6, y: 14, "text-anchor": "end"}, svg, `state ${short(data.states[1])}`);
  }
  draw(place) {
    const {xi, Phi, v, best} = place.shared;
    const weight = doubles(place, xi).map(Math.sqrt), value = doubles(place, v);
    const size = Math.hypot(weight[0] * value[0], weight[1] * value[1]);
    this.unit = size > 0 ? size : 1;
    const to = ([a, b]) => [SIZE / 2 + (SIZE / 2 / this.half) * (weight[0] * a) / this.unit, SIZE / 2 - (SIZE / 2 / this.half) * (weight[1] * b) / this.unit];
    const phi = Phi.map((row) => doubles(place, row)[0]);
    const dir = normed([weight[0] * phi[0], -weight[1] * phi[1]]);
    const at = to(value), far = 4 * SIZE;
    this.span.setAttribute("d", through([SIZE / 2, SIZE / 2], dir, far));
    const b = doubles(place, best)[0], foot = to(phi.map((x) => x * b));
    this.foot.setAttribute("cx", f1(foot[0])); this.foot.setAttribute("cy", f1(foot[1]));
    this.drop.setAttribute("d", `M${f1(at[0])} ${f1(at[1])}L${f1(foot[0])} ${f1(foot[1])}`);
    star(this.v, at, 9);
    this.name.setAttribute("x", f1(at[0] + 10)); this.name.setAttribute("y", f1(at[1] - 8));
    data.learners.forEach((_, k) => this.learner(k, place, {weight, value, phi, dir, at, to, far}));
  }
  learner(k, place, {weight, value, phi, dir, at, to, far}) {
    const q = place.learner(k);
    const theta = q.theta ? double(place.formula(q.theta[0])) : NaN;
    const towards = Number.isFinite(theta) ? phi.map((x, i) => x * theta - value[i]) : null;
    const along = (q.A && this.direction(q, place, phi, value)) || towards;
    const screen = along && normed([weight[0] * along[0], -weight[1] * along[1]]);
    this.lines[k].setAttribute("d", screen ? through(at, screen, far) : "");
    const hat = Number.isFinite(theta) ? to(phi.map((x) => x * theta)) : null;
    const inside = hat && hat.every((x) => x > 4 && x < SIZE - 4);
    show(this.dots[k], inside);
    if (inside) { this.dots[k].setAttribute("cx", f1(hat[0])); this.dots[k].setAttribute("cy", f1(hat[1])); }
    this.rays[k].setAttribute("d", hat && screen ? `M${f1(at[0])} ${f1(at[1])}L${f1(bounded(hat[0]))} ${f1(bounded(hat[1]))}` : "");
    const text = this.away[k], A = q.A && place.formula(q.A[0][0]), parallel = Boolean(screen && A && A.n === 0n && q.A.length === 1);
    show(text, (hat && !inside) || parallel);
    if (parallel) {
      text.textContent = `${short(data.learners[k].name)} is parallel to the span`;
      text.setAttribute("x", 8); text.setAttribute("y", f1(SIZE - 10 - 15 * k)); text.setAttribute("text-anchor", "start");
    }
    if (hat && !inside) {
      const side = Math.sign((hat[0] - SIZE / 2) * dir[0] + (hat[1] - SIZE / 2) * dir[1]) || 1;
      const reach = (SIZE / 2 - 22) / Math.max(Math.abs(dir[0]), Math.abs(dir[1]));
      const x = SIZE / 2 + side * dir[0] * reach, y = SIZE / 2 + side * dir[1] * reach;
      const distance = Math.hypot(hat[0] - SIZE / 2, hat[1] - SIZE / 2) / (SIZE / 2 / this.half);
      text.textContent = `${short(data.learners[k].name)} ${arrow(side * dir[0], side * dir[1])} ${distance.toPrecision(3)} ‖v‖`;
      text.setAttribute("x", f1(Math.min(Math.max(x, 50), SIZE - 50)));
      text.setAttribute("y", f1(Math.min(Math.max(y + 14 * k * (y < SIZE / 2 ? 1 : -1), 14), SIZE - 8)));
      text.setAttribute("text-anchor", "middle");
    }
  }
  // Perpendicular to Z; or from v to v_hat, which is parallel to b Phi - A v and stays a line where A is 0
  direction(q, place, phi, value) {
    if (q.normal) {
      const [a, b] = doubles(place, q.normal);
      if (a !== 0 || b !== 0) return [-b, a];
    }
    if (q.A.length !== 1) return null;
    const A = place.formula(q.A[0][0]), b = place.formula(q.b[0]);
    const Phi = place.shared.Phi.map((row) => place.formula(row[0])), v = place.all(place.shared.v);
    if ([A, b, ...Phi, ...v].includes(null)) return null;
    const along = Phi.map((x, i) => double(minus(times(b, x), times(A, v[i]))));
    return along[0] !== 0 || along[1] !== 0 ? along : null;
  }
  about() {
    return `The plane of the two states, in units of the length of v: v (star) on the circle, the span of the features (grey line), ` +
      `the orthogonal projection of v (hollow), and for each learner the line along which it projects v onto the span (dashed), with its fixed point. ` +
      `Axes are scaled by the root of the state weights.`;
  }
}

// The field of the mean update b - A x, for a learner with two weights
class Field {
  static fits() { return data.learners.some((x) => x.cells[0][2].A.length === 2); }
  constructor(svg) {
    element("rect", {class: "frame", x: 0, y: 0, width: SIZE, height: SIZE}, svg);
    const box = element("clipPath", {id: "inside"}, element("defs", {}, svg));
    element("rect", {x: 0, y: 0, width: SIZE, height: SIZE}, box);
    const all = element("g", {"clip-path": "url(#inside)"}, svg);
    this.grid = element("path", {class: "grid"}, all);
    this.arrows = element("path", {class: "arrows"}, all);
    this.paths = element("path", {class: "flow"}, all);
    this.dots = data.learners.map((x) => element("circle", {class: "dot", r: 6.5, fill: x.color}, all));
    this.foot = element("circle", {class: "foot", r: 4.5}, all);
    this.corner = [["start", 6, SIZE - 6], ["end", SIZE - 6, SIZE - 6], ["start", 6, 14]]
      .map(([anchor, x, y]) => element("text", {class: "axis", "text-anchor": anchor, x, y}, svg));
    this.away = element("text", {class: "away", x: SIZE / 2, y: 16, "text-anchor": "middle"}, svg);
  }
  draw(place) {
    const k = chosen(), q = place.learner(k), learner = data.learners[k];
    const both = data.shared.Phi[0].length === 2;
    const best = both ? doubles(place, place.shared.best) : [double(place.formula(place.shared.best[0]) || whole(0)), 0];
    const half = 1.6 * Math.max(Math.hypot(...best), 1e-300) || 1;
    const reach = Math.hypot(...best) > 0 ? half : 2;
    const to = ([x, y]) => [SIZE / 2 + ((x) / reach) * (SIZE / 2), SIZE / 2 - ((y) / reach) * (SIZE / 2)];
    this.grid.setAttribute("d", `M${SIZE / 2} 0V${SIZE}M0 ${SIZE / 2}H${SIZE}`);
    const two = q.A && q.A.length === 2;
    const A = two ? q.A.map((row) => doubles(place, row)) : null, b = two ? doubles(place, q.b) : null;
    this.arrows.setAttribute("d", two ? arrows(A, b, reach, to) : "");
    this.paths.setAttribute("d", two ? flow(A, b, reach, to) : "");
    this.paths.style.stroke = learner.color;
    show(this.foot, both);
    const foot = to(best);
    this.foot.setAttribute("cx", f1(foot[0])); this.foot.setAttribute("cy", f1(foot[1]));
    let away = "";
    data.learners.forEach((x, j) => {
      const other = place.learner(j), theta = other.theta ? doubles(place, other.theta) : null;
      const fits = theta && (both || j === k);
      const point = fits ? to(theta.length === 2 ? theta : [theta[0], 0]) : null;
      const inside = point && point.every((c) => c > 2 && c < SIZE - 2);
      show(this.dots[j], inside);
      if (inside) { this.dots[j].setAttribute("cx", f1(point[0])); this.dots[j].setAttribute("cy", f1(point[1])); }
      else if (point) away += `${away ? ", " : ""}${short(x.name)} ${arrow(point[0] - SIZE / 2, point[1] - SIZE / 2)}`;
    });
    this.away.textContent = away ? `outside: ${away}` : "";
    const second = both ? "θ₂" : "w";
    this.corner[0].textContent = `−${reach.toPrecision(3)}`;
    this.corner[1].textContent = `${both ? "θ₁" : "θ"} to ${reach.toPrecision(3)}`;
    this.corner[2].textContent = `${second} to ${reach.toPrecision(3)}`;
  }
  about() {
    return `The mean update b − Ax of ${data.learners[chosen()].name} over its two weights: arrows show its direction, lines where the mean of the weights ` +
      `goes from eight starts. Dots are the fixed points; the hollow one is the best approximation.`;
  }
}

function arrows(A, b, reach, to) {
  let d = "";
  const n = 13, length = SIZE / n / 2.4;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    const x = reach * ((2 * i + 1) / n - 1), y = reach * ((2 * j + 1) / n - 1);
    const g = [b[0] - A[0][0] * x - A[0][1] * y, b[1] - A[1][0] * x - A[1][1] * y];
    const s = normed([g[0], -g[1]]), p = to([x, y]);
    if (!s) continue;
    const tip = [p[0] + length * s[0], p[1] + length * s[1]], tail = [p[0] - length * s[0], p[1] - length * s[1]];
    const left = [tip[0] - 4 * s[0] + 2.6 * s[1], tip[1] - 4 * s[1] - 2.6 * s[0]], right = [tip[0] - 4 * s[0] - 2.6 * s[1], tip[1] - 4 * s[1] + 2.6 * s[0]];
    d += `M${f1(tail[0])} ${f1(tail[1])}L${f1(tip[0])} ${f1(tip[1])}M${f1(left[0])} ${f1(left[1])}L${f1(tip[0])} ${f1(tip[1])}L${f1(right[0])} ${f1(right[1])}`;
  }
  return d;
}
function flow(A, b, reach, to) { // x' = b - A x by the classical Runge-Kutta method, for the picture alone
  const size = Math.max(...A.flat().map(Math.abs)) || 1, h = 0.06 / size;
  const g = (x) => [b[0] - A[0][0] * x[0] - A[0][1] * x[1], b[1] - A[1][0] * x[0] - A[1][1] * x[1]];
  let d = "";
  for (let k = 0; k < 8; k++) {
    const angle = (2 * Math.PI * (k + 0.5)) / 8;
    let x = [0.9 * reach * Math.cos(angle), 0.9 * reach * Math.sin(angle)];
    d += `M${to(x).map(f1).join(" ")}`;
    for (let step = 0; step < 260; step++) {
      const g1 = g(x), g2 = g([x[0] + (h / 2) * g1[0], x[1] + (h / 2) * g1[1]]), g3 = g([x[0] + (h / 2) * g2[0], x[1] + (h / 2) * g2[1]]), g4 = g([x[0] + h * g3[0], x[1] + h * g3[1]]);
      x = x.map((c, i) => c + (h / 6) * (g1[i] + 2 * g2[i] + 2 * g3[i] + g4[i]));
      if (!(Math.abs(x[0]) < 3 * reach && Math.abs(x[1]) < 3 * reach)) break;
      if (step % 2 === 1) d += `L${to(x).map(f1).join(" ")}`;
    }
  }
  return d;
}

const short = (text) => (text.length > 14 ? text.slice(0, 13) + "…" : text);
function normed([a, b]) { const s = Math.hypot(a, b); return s > 0 && Number.isFinite(s) ? [a / s, b / s] : null; }
function through(p, dir, far) {
  if (!dir || !p.every(Number.isFinite)) return "";
  return `M${f1(p[0] - far * dir[0])} ${f1(p[1] - far * dir[1])}L${f1(p[0] + far * dir[0])} ${f1(p[1] + far * dir[1])}`;
}
function show(node, yes) { node.style.display = yes ? "" : "none"; }
function star(path, [x, y], r) {
  let d = "";
  for (let k = 0; k < 10; k++) {
    const a = (Math.PI * k) / 5 - Math.PI / 2, s = k % 2 ? 0.42 * r : r;
    d += `${k ? "L" : "M"}${f1(x + s * Math.cos(a))} ${f1(y + s * Math.sin(a))}`;
  }
  path.setAttribute("d", d + "z");
}
const arrow = (x, y) => "→↗↑↖←↙↓↘"[(Math.round(Math.atan2(-y, x) / (Math.PI / 4)) + 8) % 8];

// --- curves over the slider that was moved last, and the bars under the sliders, a few places at a time ------

const SAMPLES = 200;
const curves = [
  {id: "eigen", of: (place, k) => { const r = place.roots(k); return r && r.length ? Math.min(...r.map((z) => z.re.value)) : NaN; }, log: false},
  {id: "error", of: (place, k) => {
    const q = place.learner(k), e = q.error === null || q.error === undefined ? null : place.formula(q.error);
    if (e === null) return NaN;
    const v = norm(place);
    return v > 0 ? Math.sqrt(double(e)) / v : NaN;
  }, log: true},
];
function norm(place) {
  const xi = doubles(place, place.shared.xi), v = doubles(place, place.shared.v);
  return Math.sqrt(xi.reduce((s, w, i) => s + w * v[i] * v[i], 0));
}
const W = 400, H = 170, LEFT = 44, BELOW = 24;
for (const curve of curves) {
  const svg = $(curve.id);
  if (!svg) continue;
  element("rect", {class: "frame", x: LEFT, y: 6, width: W - LEFT - 6, height: H - BELOW - 6}, svg);
  const box = element("clipPath", {id: `${curve.id}-inside`}, element("defs", {}, svg));
  element("rect", {x: LEFT, y: 6, width: W - LEFT - 6, height: H - BELOW - 6}, box);
  const all = element("g", {"clip-path": `url(#${curve.id}-inside)`}, svg);
  curve.zero = element("path", {class: "zero"}, all);
  curve.lines = data.learners.map((x) => element("path", {class: "curve", stroke: x.color}, all));
  curve.cursor = element("path", {class: "cursor"}, svg);
  curve.marks = [0, 1, 2].map(() => element("text", {class: "axis", x: LEFT - 4, "text-anchor": "end"}, svg));
  curve.ends = [["start", LEFT], ["end", W - 6], ["middle", (W + LEFT) / 2]].map(([anchor, x]) => element("text", {class: "axis", x, y: H - 8, "text-anchor": anchor}, svg));
}
let axis = 0, waiting = null;
const sampled = data.sliders.map(() => ""); // of each slider: where the others stood
const xOf = (v, i) => LEFT + ((W - LEFT - 6) * i) / (places[v].length - 1);
const keyOf = (at, v) => at.map((i, u) => (u === v ? "*" : i)).join(",");

// A sweep over each slider whose bar is not of this place, the others where they are; curves are of the one that moved
let curved = "";
function sample(at) {
  clearTimeout(waiting);
  const order = [axis, ...data.sliders.keys()].filter((v, k, all) => all.indexOf(v) === k);
  const next = order.find((v) => sampled[v] !== keyOf(at, v) || (v === axis && curved !== `${v}:${keyOf(at, v)}`));
  if (next === undefined) { document.documentElement.dataset.sampled = keyOf(at, axis); return; }
  waiting = setTimeout(() => sweep(at, next), next === axis ? 0 : 150);
}
function sweep(at, v) {
  const count = places[v].length, n = Math.min(SAMPLES, count);
  const jobs = Array.from({length: n}, (_, k) => Math.round((k * (count - 1)) / (n - 1)));
  const found = {v, rows: data.learners.map(() => ({eigen: [], error: [], verdict: [], piece: []}))};
  let done = 0;
  const go = () => {
    const until = performance.now() + 6;
    while (done < jobs.length && performance.now() < until) {
      const there = at.slice();
      there[v] = jobs[done];
      const place = new Place(there), special = COUNT === 1 && data.special[there[0]];
      data.learners.forEach((_, k) => {
        const row = found.rows[k];
        row.verdict.push([jobs[done], place.verdict(k)]);
        if (v !== axis) return;
        row.piece.push(special ? null : place.learner(k));
        for (const curve of curves) row[curve.id].push([jobs[done], place.refused ? NaN : curve.of(place, k)]);
      });
      done += 1;
    }
    if (done < jobs.length) { waiting = setTimeout(go, 0); return; }
    sampled[v] = keyOf(at, v);
    if (v === axis) { curved = `${v}:${sampled[v]}`; drawCurves(found); }
    bars(found);
    sample(at);
  };
  go();
}

function drawCurves(found) {
  for (const curve of curves) {
    if (!curve.lines) continue;
    const all = found.rows.flatMap((row) => row[curve.id].map((p) => p[1])).filter((y) => Number.isFinite(y) && (!curve.log || y > 0));
    const y = scaleOf(all, curve.log);
    found.rows.forEach((row, k) => {
      let d = "", pen = "M", last = NaN, piece = null;
      row[curve.id].forEach(([i, value], j) => {
        const own = row.piece[j];
        if (own !== null && piece !== null && own !== piece) pen = "M"; // another formula: it may jump
        piece = own === null ? piece : own;
        const h = y && Number.isFinite(value) && (!curve.log || value > 0) ? y(value) : NaN;
        if (!Number.isFinite(h)) { pen = "M"; return; }
        if (!curve.log && pen === "L" && Math.abs(h - last) > 2 * H) pen = "M"; // a pole between two places
        d += `${pen}${f1(xOf(found.v, i))} ${f1(bounded(h))}`;
        pen = "L"; last = h;
      });
      curve.lines[k].setAttribute("d", d);
    });
    const s = data.sliders[found.v];
    curve.ends[0].textContent = s.places[0]; curve.ends[1].textContent = s.places.at(-1); curve.ends[2].textContent = s.letter;
    const shownMarks = (y ? y.marks : []).filter((m, i, all) => all.slice(0, i).every((o) => Math.abs(y(o[1]) - y(m[1])) > 13));
    curve.marks.forEach((mark, i) => {
      show(mark, i < shownMarks.length);
      if (i < shownMarks.length) { mark.textContent = shownMarks[i][0]; mark.setAttribute("y", f1(Math.min(Math.max(y(shownMarks[i][1]) + 4, 14), H - BELOW))); }
    });
    curve.zero.setAttribute("d", y && !curve.log && y.holds(0) ? `M${LEFT} ${f1(y(0))}H${W - 6}` : "");
    const empty = $(`${curve.id}-none`);
    if (empty) empty.hidden = all.length > 0;
  }
}
function scaleOf(all, log) {
  if (!all.length) return null;
  const seen = (log ? all.map(Math.log10) : all.slice()).sort((a, b) => a - b);
  const at = (q) => seen[Math.round(q * (seen.length - 1))];
  const room = 2 * (at(0.9) - at(0.1)) || 1;
  let low = Math.max(seen[0], at(0.1) - room), high = Math.min(seen.at(-1), at(0.9) + room);
  if (!log) { low = Math.min(low, 0); high = Math.max(high, 0); }
  if (!(high > low)) { low -= 1; high += 1; }
  const pad = 0.06 * (high - low);
  low -= pad; high += pad;
  const y = (v) => 6 + ((H - BELOW - 6) * (high - (log ? Math.log10(v) : v))) / (high - low);
  y.holds = (v) => v >= low && v <= high;
  const number = (v) => { const t = Number(v.toPrecision(2)); return (t !== 0 && Math.abs(t) < 0.001 ? t.toExponential() : t.toString()).replaceAll("-", "−"); };
  y.marks = log ? [low + pad, high - pad].map((v) => [number(10 ** v), 10 ** v]) : [...new Set([low + pad, 0, high - pad])].map((v) => [number(v), v]);
  return y;
}

// Bars: exact pieces where the region is known, else the verdict at each sampled place
function bars(found) {
  data.learners.forEach((learner, k) => {
    const bar = document.querySelector(`.bar[data-slider="${found.v}"][data-learner="${k}"] svg`);
    if (!bar) return;
    const last = places[found.v].length - 1;
    bar.replaceChildren();
    const piece = (a, b, kind) => element("rect", { // an unstable part is thinner, too: a colour alone does not tell
      class: kind, x: f1((1000 * a) / last), y: kind === "bar-stable" ? 0 : 3, width: Math.max(1, (1000 * (b - a)) / last).toFixed(2), height: kind === "bar-stable" ? 10 : 4,
    }, bar);
    if (learner.region) {
      let from = 0;
      for (const [a, b] of learner.region.pieces) { if (a > from) piece(from, a, "bar-unstable"); piece(a, b, "bar-stable"); from = b; }
      if (from < last) piece(from, last, "bar-unstable");
      for (const [at] of learner.region.breaks) element("rect", {class: "bar-break", x: f1((1000 * at) / last - 1.5), y: 0, width: 3, height: 10}, bar);
      for (const [a, b] of runs(data.invalid)) piece(a - 0.5, b + 0.5, "bar-none");
      return;
    }
    const row = found.rows[k].verdict.map(([i, verdict]) => [i, verdict === "stable" ? "bar-stable" : ["no model", "undefined"].includes(verdict) ? "bar-none" : "bar-unstable"]);
    row.forEach(([i, kind], j) => { // alike neighbours are one piece, which ends in the middle between two places
      if (j && row[j - 1][1] === kind) return;
      let end = j;
      while (end + 1 < row.length && row[end + 1][1] === kind) end += 1;
      piece(j ? (row[j - 1][0] + i) / 2 : 0, end + 1 < row.length ? (row[end][0] + row[end + 1][0]) / 2 : last, kind);
    });
  });
}
function runs(list) {
  const out = [];
  for (const i of list) if (out.length && out.at(-1)[1] === i - 1) out.at(-1)[1] = i; else out.push([i, i]);
  return out;
}

// --- the page -----------------------------------------------------------------------------------------------

const inputs = data.sliders.map((_, v) => $(`slider-${v}`));
const cards = data.learners.map((_, k) => document.querySelector(`.learner[data-learner="${k}"]`));
const picture = $("picture");
const Scene = Plane.fits() ? Plane : Field.fits() ? Field : null;
const scene = Scene && picture ? new Scene(picture) : null;
const chosen = () => { const on = document.querySelector('input[name="chosen"]:checked'); return on ? Number(on.value) : 0; };
const fill = (card, key, html) => { const node = card.querySelector(`[data-key="${key}"]`); if (node && node.innerHTML !== html) node.innerHTML = html; };
const CLASSES = {stable: "stable", unstable: "unstable", marginal: "marginal", "not stable": "unstable"};
const MOST = 8;

function draw() {
  const began = performance.now();
  const at = inputs.map((x) => Number(x.value)), place = new Place(at);
  data.sliders.forEach((s, v) => {
    const x = places[v][at[v]], text = s.places[at[v]], approx = rounded(x, 4);
    const plain = text.includes("/") ? `${text} ${approx.exact ? "=" : "≈"} ${approx.text}` : text;
    const output = $(`value-${v}`);
    output.innerHTML = `${pretty(text)}${text.includes("/") ? ` <span class="soft">${approx.exact ? "=" : "≈"} ${pretty(approx.text)}</span>` : ""}`;
    inputs[v].setAttribute("aria-valuetext", `${s.name} = ${plain}`);
  });
  const why = place.refused || (place.shared.why ? `No numbers here: ${place.shared.why}` : "");
  $("refused").textContent = why;
  $("refused").hidden = !why;
  const heard = [];
  data.learners.forEach((learner, k) => {
    const verdict = why ? "no model" : tell(place, k);
    if (why) for (const key of ["roots", "theta", "error", "projected"]) fill(cards[k], key, "–");
    const pill = cards[k].querySelector(".verdict");
    pill.textContent = verdict;
    pill.className = `verdict ${CLASSES[verdict] || ""}`;
    heard.push(`${learner.name} ${verdict}`);
  });
  const best = why ? null : place.formula(place.shared.error);
  fill(document.body, "best", best === null ? "–" : shownRoot(best));
  if (scene) {
    picture.style.visibility = why ? "hidden" : "";
    if (!why) scene.draw(place);
  }
  const crosses = document.querySelectorAll(".crosshair");
  if (crosses.length) {
    const [x, y] = [0, 1].map((v) => { const [a, c] = data.sliders[v].ends.map((e) => double(parse(e))), b = double(places[v][at[v]]); return (100 * (b - a)) / (c - a); });
    for (const cross of crosses) cross.setAttribute("d", `M${x.toFixed(2)} 0V100M0 ${(100 - y).toFixed(2)}H100`);
    for (const dot of document.querySelectorAll(".here")) { dot.setAttribute("cx", x.toFixed(2)); dot.setAttribute("cy", (100 - y).toFixed(2)); }
  }
  for (const curve of curves) if (curve.cursor) curve.cursor.setAttribute("d", `M${f1(xOf(axis, at[axis]))} 6V${H - BELOW}`);
  sample(at);
  heardLater(data.sliders.map((s, v) => `${s.name} = ${s.places[at[v]]}`).join(", ") + ": " + heard.join(", "));
  document.documentElement.dataset.at = at.join(",");
  document.documentElement.dataset.redraw = (performance.now() - began).toFixed(2);
}

function tell(place, k) {
  const q = place.learner(k), card = cards[k];
  const verdict = place.verdict(k);
  fill(card, "word", q.p && q.p.length === 2 ? "eigenvalue" : "eigenvalues");
  fill(card, "roots", q.p ? shownRoots(place.roots(k)) : "–");
  const theta = q.theta ? place.all(q.theta) : null;
  const values = theta === null || theta.includes(null) ? null : theta.map((x) => shown(rational(x)));
  fill(card, "theta", values ? (values.length > MOST ? [...values.slice(0, MOST), `… and ${values.length - MOST} more`] : values).join("<br>") : "none");
  for (const key of ["error", "projected"]) {
    const square = q[key] === null || q[key] === undefined ? null : place.formula(q[key]);
    fill(card, key, square === null ? "–" : shownRoot(square));
  }
  let why = q.why || (verdict === "undefined" || (q.theta && values === null) ? "A formula divides by zero here." : "");
  const region = data.learners[k].region;
  if (region && region.stable.some(([a, b]) => a <= place.at[0] && place.at[0] <= b) !== (verdict === "stable"))
    why = `The exact region and the table of Routh contradict one another here: a defect of this page. ${why}`;
  const note = card.querySelector(".why");
  note.textContent = why;
  note.hidden = !why;
  return verdict;
}

let speaking = null;
function heardLater(text) {
  clearTimeout(speaking);
  speaking = setTimeout(() => { $("status").textContent = text; }, 400);
}
let asked = false;
function later() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}
inputs.forEach((input, v) => {
  input.max = places[v].length - 1;
  input.value = data.sliders[v].start; // browsers remember another one
  input.addEventListener("input", () => { axis = v; later(); });
});
for (const button of document.querySelectorAll("button[data-to]"))
  button.addEventListener("click", () => { inputs[0].value = button.dataset.to; axis = 0; later(); });
for (const radio of document.querySelectorAll('input[name="chosen"]'))
  radio.addEventListener("change", () => { choose(); later(); });
function choose() {
  if (scene) $("about").textContent = scene.about();
  for (const map of document.querySelectorAll("[data-map]")) map.hidden = Number(map.dataset.map) !== chosen();
}
let playing = null;
for (const button of document.querySelectorAll("button[data-play]")) {
  const v = Number(button.dataset.play);
  button.addEventListener("click", () => {
    const was = playing;
    stop();
    if (was && was.v === v) return;
    playing = {v, way: Number(inputs[v].value) + 1 >= places[v].length ? -1 : 1, at: Number(inputs[v].value), last: null, button};
    button.textContent = "Pause";
    axis = v;
    requestAnimationFrame(move);
  });
}
function stop() { if (playing) playing.button.textContent = "Play"; playing = null; }
function move(now) {
  if (!playing) return;
  const {v} = playing, last = places[v].length - 1;
  if (playing.last !== null) playing.at += (playing.way * last * Math.min(now - playing.last, 100)) / 12000;
  playing.last = now;
  if (playing.at >= last || playing.at <= 0) { playing.at = Math.max(0, Math.min(last, playing.at)); playing.way = -playing.way; }
  const next = Math.round(playing.at);
  if (next !== Number(inputs[v].value)) { inputs[v].value = next; draw(); }
  requestAnimationFrame(move);
}
// What computes the numbers, for the tests of this page and for a curious console
window.obliquetd = {
  rounded: (text, digits) => rounded(lowest(parse(text)), digits).text,
  rootOf: (text) => { const r = rootOf(parse(text)); return r.rational ? `${r.rational.n}/${r.rational.d}` : r.text; },
  roots: (list) => { const found = rootsOf(list.map((x) => lowest(parse(x)))); return found && found.map((z) => [z.re.text, z.im.text]); },
  verdict: (list) => { const p = list.map((x) => lowest(parse(x))); return verdictOf(p, () => rootsOf(p)); },
  double: (text) => double(lowest(parse(text))),
};
if ($("what")) $("what").open = window.innerWidth > 700; // a phone shows the numbers first
choose();
draw();
})();
