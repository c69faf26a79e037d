(* The optimal weights, the trace of SETD's A, and the triangle inequality. *)

Section Omega.
Variable R : realFieldType.
Add Field real : (field_field R).

(* phi and the difference Delta, as families of numbers over any finite set of features *)
Theorem omega_closed_form (I : finType) (phi Delta : I -> R) (omega : R) :
  (exists i, Delta i != 0) -> 0 <= omega ->
  let best := Num.max ((\sum_i Delta i * phi i) / \sum_i Delta i ^+ 2) 0 in
  let q := fun k : R => \sum_i (k * Delta i - phi i) ^+ 2 in
  q best <= q omega /\ (q omega = q best -> omega = best).
Proof.
case=> i0 nz pos best q.
set a := \sum_i Delta i ^+ 2; set b := \sum_i Delta i * phi i; set c := \sum_i phi i ^+ 2.
have a0 : 0 < a.
  rewrite /a (bigD1 i0) //= ltr_paddr ?sumr_ge0 // => [j _|]; first exact: sqr_ge0.
  by rewrite lt_def sqrf_eq0 nz sqr_ge0.
have parabola k : q k = a * k ^+ 2 - 2%:R * b * k + c.
  rewrite /q /a /b /c [2%:R * _]mulr_sumr !mulr_suml -sumrB -big_split; apply: eq_bigr => i _ /=.
  by by_scalars R.
have an : a != 0 by rewrite gt_eqF.
have gap k l : q k - q l = (k - l) * (a * (k + l) - 2%:R * b) by rewrite !parabola; by_scalars R.
suff main : omega = best \/ q best < q omega.
  by case: main => [->|lt]; split=> //; [exact: ltW | move=> e; move: lt; rewrite e ltxx].
case: (eqVneq omega best) => [|ne]; [by left | right; rewrite -subr_gt0 gap].
rewrite /best -/a -/b in ne *; case: (leP 0 (b / a)) => ba in ne *.
  have -> : a * (omega + b / a) - 2%:R * b = a * (omega - b / a) by by_scalars R.
  by rewrite mulrCA mulr_gt0 // -expr2 lt_def sqrf_eq0 subr_eq0 ne sqr_ge0.
have bn : b < 0 by move: ba; rewrite pmulr_llt0 // invr_gt0.
have om : 0 < omega by rewrite lt_def ne pos.
rewrite subr0 addr0 mulr_gt0 // subr_gt0; apply: (@lt_trans _ _ 0); last by rewrite mulr_gt0.
by rewrite pmulr_rlt0 ?ltr0n.
Qed.

(* state by state: row s of X* is x s, its weight xi s *)
Theorem omega_star_closed_form (S I : finType) (xi : S -> R) (phi x : S -> I -> R) (omega : S -> R) :
  (forall s, 0 < xi s) -> (forall s, exists i, phi s i != 0) ->
  let best := fun s => (\sum_i phi s i * x s i) / (xi s * \sum_i phi s i ^+ 2) in
  let q := fun k : S -> R => \sum_s \sum_i (xi s * k s * phi s i - x s i) ^+ 2 in
  q best <= q omega /\ (q omega = q best -> forall s, omega s = best s).
Proof.
move=> pos nz best q.
have size s : 0 < \sum_i phi s i ^+ 2.
  case: (nz s) => i n; rewrite (bigD1 i) //= ltr_paddr ?sumr_ge0 // => [j _|]; first exact: sqr_ge0.
  by rewrite lt_def sqrf_eq0 n sqr_ge0.
have gap : q omega - q best = \sum_s (xi s ^+ 2 * \sum_i phi s i ^+ 2) * (omega s - best s) ^+ 2.
  rewrite /q -sumrB; apply: eq_bigr => s _.
  have parabola k : \sum_i (xi s * k * phi s i - x s i) ^+ 2
    = xi s ^+ 2 * k ^+ 2 * (\sum_i phi s i ^+ 2) - 2%:R * xi s * k * (\sum_i phi s i * x s i)
      + \sum_i x s i ^+ 2.
    by rewrite !mulr_sumr -sumrB -big_split; apply: eq_bigr => i _ /=; by_scalars R.
  rewrite !parabola /best; move: (size s) (pos s).
  move: (\sum_i phi s i ^+ 2) (\sum_i phi s i * x s i) (\sum_i x s i ^+ 2) (xi s) (omega s) => a b c e k a0 e0.
  have an : a != 0 by rewrite gt_eqF.
  have en : e != 0 by rewrite gt_eqF.
  by by_scalars R.
have term s : 0 <= (xi s ^+ 2 * \sum_i phi s i ^+ 2) * (omega s - best s) ^+ 2.
  by apply: mulr_ge0; [apply: mulr_ge0; [exact: sqr_ge0 | exact: ltW] | exact: sqr_ge0].
split; first by rewrite -subr_ge0 gap sumr_ge0.
move=> e s; apply/eqP; rewrite -subr_eq0 -sqrf_eq0.
have zero : \sum_s (xi s ^+ 2 * \sum_i phi s i ^+ 2) * (omega s - best s) ^+ 2 = 0.
  by rewrite -gap e subrr.
have coefficient : 0 < xi s ^+ 2 * \sum_i phi s i ^+ 2.
  by apply: mulr_gt0 => //; rewrite expr2 mulr_gt0.
have := @psumr_eq0P _ _ predT _ (fun t _ => term t) zero s isT.
by move/eqP; rewrite mulf_eq0 (gt_eqF coefficient).
Qed.

(* t: a transition, of weight xi pi P; A is the sum of weight omega phi Delta' *)
Section Trace.
Variables (T : finType) (d : nat) (weight : T -> R) (phi Delta : T -> 'cV[R]_d).
Hypothesis weights : forall t, 0 <= weight t.
Let product t := \sum_i Delta t i 0 * phi t i 0.
Let size t := \sum_i Delta t i 0 ^+ 2.
Let omega t := Num.max (product t) 0 / size t.
Let A : 'M[R]_d := \sum_t (weight t * omega t) *: (phi t *m (Delta t)^T).

Theorem setd_trace_nonnegative :
  \tr A = \sum_t weight t * (Num.max (product t) 0 ^+ 2 / size t) /\ 0 <= \tr A.
Proof.
have trace : \tr A = \sum_t weight t * (Num.max (product t) 0 ^+ 2 / size t).
  rewrite /A raddf_sum; apply: eq_bigr => t _ /=; rewrite mxtraceZ -mulrA; congr (_ * _).
  have -> : \tr (phi t *m (Delta t)^T) = product t.
    by apply: eq_bigr => i _; rewrite !mxE big_ord1 mxE mulrC.
  rewrite /omega; case: (leP (product t) 0) => s; first by rewrite expr0n /= !mul0r.
  by rewrite expr2 mulrAC.
split=> //; rewrite trace sumr_ge0 // => t _; rewrite mulr_ge0 // divr_ge0 ?sqr_ge0 //.
by rewrite sumr_ge0 // => i _; rewrite sqr_ge0.
Qed.
End Trace.

Section OneFeature.
Variables (T : finType) (weight phi Delta : T -> R).
Hypothesis weights : forall t, 0 <= weight t.
Let omega t := Num.max (Delta t * phi t) 0 / Delta t ^+ 2.

Theorem setd_one_feature_never_unstable :
  let A := \sum_t weight t * omega t * phi t * Delta t in
  A = \sum_t weight t * phi t ^+ 2 * (0 < phi t * Delta t)%R%:R /\ 0 <= A.
Proof.
move=> A; have form : A = \sum_t weight t * phi t ^+ 2 * (0 < phi t * Delta t)%R%:R.
  apply: eq_bigr => t _; rewrite -!mulrA; congr (_ * _); rewrite /omega (mulrC (phi t)).
  case: (ltP 0 (Delta t * phi t)) => s; last by rewrite /= ?mul0r ?mulr0.
  have nz : Delta t != 0 by apply: contraL s => /eqP ->; rewrite mul0r ltxx.
  by rewrite /= mulr1; by_scalars R.
split=> //; rewrite form sumr_ge0 // => t _; apply: mulr_ge0 (ler0n _ _).
by apply: mulr_ge0; rewrite ?sqr_ge0.
Qed.
End OneFeature.
End Omega.

Section Triangle.
Variables (R : rcfType) (m n : nat).
Add Field real_closed : (field_field R).
Implicit Types M N : 'M[R]_(m, n).
Let entry M (p : 'I_m * 'I_n) := M p.1 p.2.
Definition frobenius M : R := Num.sqrt (\sum_p entry M p ^+ 2).

Lemma cauchy_schwarz M N :
  (\sum_p entry M p * entry N p) ^+ 2 <= (\sum_p entry M p ^+ 2) * (\sum_p entry N p ^+ 2).
Proof.
set a := \sum_p entry M p ^+ 2; set b := \sum_p _; set c := \sum_p entry N p ^+ 2.
have a0 : 0 <= a by rewrite sumr_ge0 // => p _; rewrite sqr_ge0.
have parabola k l : \sum_p (k * entry N p - l * entry M p) ^+ 2
  = k ^+ 2 * c - 2%:R * k * l * b + l ^+ 2 * a.
  by rewrite /a /b /c !mulr_sumr -sumrB -big_split; apply: eq_bigr => p _ /=; by_scalars R.
have square : \sum_p (a * entry N p - b * entry M p) ^+ 2 = a * (a * c - b ^+ 2).
  by rewrite parabola; by_scalars R.
case: (eqVneq a 0) => [zero|nz].
  rewrite /b big1 ?expr0n ?mulr_ge0 // => [|p _].
    by rewrite sumr_ge0 // => q _; rewrite sqr_ge0.
  have := @psumr_eq0P _ _ predT _ (fun q _ => sqr_ge0 (entry M q)) zero p isT.
  by move/eqP; rewrite sqrf_eq0 => /eqP ->; rewrite mul0r.
have ap : 0 < a by rewrite lt_def nz.
rewrite -subr_ge0 -(pmulr_rge0 _ ap) -square sumr_ge0 // => p _; exact: sqr_ge0.
Qed.

Lemma frobenius_add M N : frobenius (M + N) <= frobenius M + frobenius N.
Proof.
have a0 K : 0 <= \sum_p entry K p ^+ 2 by rewrite sumr_ge0 // => p _; rewrite sqr_ge0.
have pos : 0 <= frobenius M + frobenius N by rewrite addr_ge0 ?sqrtr_ge0.
rewrite -[leRHS](ger0_norm pos) -sqrtr_sqr; apply: ler_wsqrtr.
have -> : \sum_p entry (M + N) p ^+ 2
  = \sum_p entry M p ^+ 2 + 2%:R * (\sum_p entry M p * entry N p) + \sum_p entry N p ^+ 2.
  by rewrite mulr_sumr -!big_split; apply: eq_bigr => p _ /=; rewrite /entry mxE; by_scalars R.
rewrite sqrrD !sqr_sqrtr // ler_add2r ler_add2l -[leRHS]mulr_natl ler_pmul2l ?ltr0n //.
rewrite -sqrtrM //; apply: le_trans (ler_norm _) _; rewrite -sqrtr_sqr; apply: ler_wsqrtr.
exact: cauchy_schwarz.
Qed.
End Triangle.

Theorem triangle_bound (R : rcfType) (T : finType) (d : nat) (omega : T -> R) (phi Delta : T -> 'cV[R]_d) :
  frobenius (\sum_t (omega t *: Delta t - phi t) *m (phi t)^T)
  <= \sum_t frobenius ((omega t *: Delta t - phi t) *m (phi t)^T).
Proof.
apply: (big_ind2 (fun M k => frobenius M <= k)) => [|M k N l p q|//].
  by rewrite /frobenius big1 ?sqrtr0 // => p _; rewrite mxE expr0n.
by apply: le_trans (frobenius_add _ _) _; rewrite ler_add.
Qed.
