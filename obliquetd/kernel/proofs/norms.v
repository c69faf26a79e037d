(* Stands on dissipation.v: sums that are positive, and the weights of G_lambda. *)
(* Stands on folklore.v: the error as an oblique projection. *)
(* Sentences of the folklore in the norm |u|^2 = sum of xi_i u_i^2, over any real field. *)

Section Norms.
Variables (R : realFieldType) (n : nat).
Add Field real_of_norms : (field_field R).

(* (sum of H_ij u_j)^2 <= c sum of H_ij u_j^2, for a row of sum c at most *)
Lemma row_cauchy (I : finType) (h u : I -> R) c : (forall j, 0 <= h j) -> \sum_j h j <= c ->
  (\sum_j h j * u j) ^+ 2 <= c * \sum_j h j * u j ^+ 2.
Proof.
move=> h0 sum; set m := \sum_j h j * u j; set q := \sum_j h j * u j ^+ 2; set s := \sum_j h j in sum.
have s0 : 0 <= s by rewrite sumr_ge0.
have c0 : 0 <= c := le_trans s0 sum.
have square : 0 <= c ^+ 2 * q - 2%:R * c * m ^+ 2 + s * m ^+ 2.
  have -> : c ^+ 2 * q - 2%:R * c * m ^+ 2 + s * m ^+ 2 = \sum_j h j * (c * u j - m) ^+ 2.
    have expanded k : \sum_j h j * (c * u j - k) ^+ 2 = c ^+ 2 * q - 2%:R * c * k * m + s * k ^+ 2.
      by rewrite /q /m /s !mulr_sumr mulr_suml -sumrB -big_split; apply: eq_bigr => j _ /=; by_scalars R.
    by rewrite expanded; by_scalars R.
  by rewrite sumr_ge0 // => j _; rewrite mulr_ge0 // sqr_ge0.
case: (eqVneq c 0) => [zero|nz].
  have hz j : h j = 0.
    have sz : s = 0 by apply: le_anti; rewrite s0 andbT -zero.
    exact: (@psumr_eq0P _ _ predT h (fun k _ => h0 k) sz j isT).
  by rewrite zero mul0r /m big1 ?expr0n // => j _; rewrite hz mul0r.
have cp : 0 < c by rewrite lt_def nz.
rewrite -(ler_pmul2l cp) -subr_ge0; apply: le_trans square _; rewrite -subr_ge0.
have -> : c * (c * q) - c * m ^+ 2 - (c ^+ 2 * q - 2%:R * c * m ^+ 2 + s * m ^+ 2) = (c - s) * m ^+ 2 by by_scalars R.
by rewrite mulr_ge0 ?subr_ge0 ?sqr_ge0.
Qed.

Variable xi : 'rV[R]_n.
Hypothesis positive : forall i, 0 < xi 0 i.
Definition inner (u w : 'cV[R]_n) : R := \sum_i xi 0 i * (u i 0 * w i 0).
Definition norm2 (u : 'cV[R]_n) : R := \sum_i xi 0 i * u i 0 ^+ 2.

Lemma norm2_ge0 u : 0 <= norm2 u.
Proof. by rewrite sumr_ge0 // => i _; rewrite mulr_ge0 ?sqr_ge0 // ltW. Qed.
Lemma norm2D u w : norm2 (u + w) = norm2 u + 2%:R * inner u w + norm2 w.
Proof.
rewrite /norm2 /inner mulr_sumr -!big_split; apply: eq_bigr => i _ /=; rewrite mxE; by_scalars R.
Qed.
Lemma norm2Z k u : norm2 (k *: u) = k ^+ 2 * norm2 u.
Proof. by rewrite /norm2 mulr_sumr; apply: eq_bigr => i _; rewrite mxE; by_scalars R. Qed.
Lemma innerZl k u w : inner (k *: u) w = k * inner u w.
Proof. by rewrite /inner mulr_sumr; apply: eq_bigr => i _; rewrite mxE; by_scalars R. Qed.
Lemma innerC u w : inner u w = inner w u.
Proof. by apply: eq_bigr => i _; rewrite [u i 0 * _]mulrC. Qed.
Lemma innerZr k u w : inner u (k *: w) = k * inner u w.
Proof. by rewrite innerC innerZl innerC. Qed.
Lemma innerB u w z : inner u (w - z) = inner u w - inner u z.
Proof. by rewrite /inner -sumrB; apply: eq_bigr => i _; rewrite !mxE; by_scalars R. Qed.
Lemma innerN u w : inner u (- w) = - inner u w.
Proof. by rewrite /inner -sumrN; apply: eq_bigr => i _; rewrite !mxE; by_scalars R. Qed.
Lemma norm2N u : norm2 (- u) = norm2 u.
Proof. by rewrite /norm2; apply: eq_bigr => i _; rewrite mxE sqrrN. Qed.
Lemma inner_mx u w : inner u w = (u^T *m diag_mx xi *m w) 0 0.
Proof.
by rewrite mxE; apply: eq_bigr => i _; rewrite mul_mx_diag !mxE [u i 0 * xi 0 i]mulrC mulrA.
Qed.
Lemma norm2_mx u : norm2 u = (u^T *m diag_mx xi *m u) 0 0.
Proof. by rewrite -inner_mx; apply: eq_bigr => i _; rewrite expr2. Qed.
Lemma inner_span d (Phi : 'M[R]_(n, d)) (s : 'cV[R]_d) w :
  inner (Phi *m s) w = (s^T *m (Phi^T *m diag_mx xi *m w)) 0 0.
Proof. by rewrite inner_mx trmx_mul !mulmxA. Qed.
Lemma norm2_gt0 u : u != 0 -> 0 < norm2 u.
Proof. exact: sum_pos positive. Qed.

Section Contraction.
Variables (H : 'M[R]_n) (c : R).
Hypothesis H_nonneg : forall i j, 0 <= H i j.
Hypothesis H_rows : forall i, \sum_j H i j <= c.
Hypothesis H_columns : forall j, \sum_i xi 0 i * H i j <= c * xi 0 j.
Hypothesis c_range : 0 <= c < 1.

Lemma contraction u : norm2 (H *m u) <= c ^+ 2 * norm2 u.
Proof.
case/andP: c_range => c0 c1.
apply: (@le_trans _ _ (\sum_i xi 0 i * (c * \sum_j H i j * u j 0 ^+ 2))).
  by apply: ler_sum => i _; rewrite ler_wpmul2l ?(ltW (positive i)) // mxE row_cauchy.
have -> : \sum_i xi 0 i * (c * \sum_j H i j * u j 0 ^+ 2) = \sum_j c * (\sum_i xi 0 i * H i j) * u j 0 ^+ 2.
  rewrite [LHS](eq_bigr (fun i => \sum_j c * (xi 0 i * H i j) * u j 0 ^+ 2)) => [|i _].
    by rewrite exchange_big; apply: eq_bigr => j _ /=; rewrite -mulr_suml mulr_sumr.
  by rewrite mulrCA !mulr_sumr; apply: eq_bigr => j _; by_scalars R.
rewrite /norm2 mulr_sumr; apply: ler_sum => j _; rewrite mulrA ler_wpmul2r ?sqr_ge0 //.
by rewrite expr2 -mulrA ler_wpmul2l.
Qed.

(* the projected equation, of the error: no estimate in the span is nearer by more than the factor *)
Lemma error_bound d (Phi : 'M[R]_(n, d)) (theta t : 'cV[R]_d) (v : 'cV[R]_n) :
  Phi^T *m diag_mx xi *m ((1%:M - H) *m (Phi *m theta - v)) = 0 ->
  (1 - c ^+ 2) * norm2 (Phi *m theta - v) <= norm2 (Phi *m t - v).
Proof.
set e := Phi *m theta - v => fixed; pose h := Phi *m (t - theta).
have -> : Phi *m t - v = h + e by rewrite /h /e mulmxBr addrA subrK.
have ortho : inner h e = inner h (H *m e).
  apply/eqP; rewrite -subr_eq0 -innerB; apply/eqP.
  have -> : e - H *m e = (1%:M - H) *m e by rewrite mulmxBl mul1mx.
  by rewrite /h inner_span fixed mulmx0 mxE.
have -> : norm2 (h + e) = norm2 (h + H *m e) - norm2 (H *m e) + norm2 e.
  by rewrite !norm2D ortho; by_scalars R.
rewrite mulrBl mul1r -subr_ge0.
have -> : norm2 (h + H *m e) - norm2 (H *m e) + norm2 e - (norm2 e - c ^+ 2 * norm2 e)
  = norm2 (h + H *m e) + (c ^+ 2 * norm2 e - norm2 (H *m e)) by by_scalars R.
by rewrite addr_ge0 ?norm2_ge0 // subr_ge0 contraction.
Qed.

Lemma residual_bound e : (1 - c) ^+ 2 * norm2 e <= norm2 (e - H *m e).
Proof.
case/andP: c_range => c0 c1; have b := contraction e.
have form k : norm2 (k *: e - H *m e) = k ^+ 2 * norm2 e - 2%:R * k * inner e (H *m e) + norm2 (H *m e).
  by rewrite norm2D norm2Z innerZl innerN norm2N; by_scalars R.
have whole := form 1; rewrite scale1r in whole; rewrite whole.
case: (eqVneq c 0) => [zero|nz].
  have He : H *m e = 0.
    by apply/eqP; apply: contraTT b => /norm2_gt0 p; rewrite zero expr0n mul0r -ltNge.
  rewrite zero He subr0 !expr1n mul1r /inner big1 => [|i _]; last by rewrite mxE !mulr0.
  by rewrite mulr0 subr0 ler_addl norm2_ge0.
have cp : 0 < c by rewrite lt_def nz.
have f := norm2_ge0 (c *: e - H *m e); rewrite form in f.
move: b f; move: (norm2 e) (norm2 (H *m e)) (inner _ _) => a b x ab f.
rewrite -(ler_pmul2l cp) -subr_ge0.
have -> : c * (1 ^+ 2 * a - 2%:R * 1 * x + b) - c * ((1 - c) ^+ 2 * a)
  = (c ^+ 2 * a - 2%:R * c * x + b) + (1 - c) * (c ^+ 2 * a - b) by by_scalars R.
by rewrite addr_ge0 // mulr_ge0 // subr_ge0 // ltW.
Qed.
End Contraction.

Lemma no_less d (Phi : 'M[R]_(n, d)) (theta t : 'cV[R]_d) (v : 'cV[R]_n) :
  Phi^T *m diag_mx xi *m (Phi *m theta - v) = 0 -> norm2 (Phi *m theta - v) <= norm2 (Phi *m t - v).
Proof.
move=> fixed; rewrite -[leLHS]mul1r.
have -> : 1 = 1 - 0 ^+ 2 :> R by rewrite expr0n subr0.
apply: (@error_bound 0 0) => [i j|i|j||]; rewrite ?mxE ?lexx ?ltr01 //.
- by rewrite big1 // => j _; rewrite mxE.
- by rewrite mul0r big1 // => i _; rewrite mxE mulr0.
by rewrite subr0 mul1mx.
Qed.

Lemma gram_positive d (Phi : 'M[R]_(n, d)) (x : 'cV[R]_d) : \rank Phi = d -> x != 0 ->
  0 < (x^T *m (Phi^T *m diag_mx xi *m Phi) *m x) 0 0.
Proof.
move=> full nz; have -> : x^T *m (Phi^T *m diag_mx xi *m Phi) *m x = (Phi *m x)^T *m diag_mx xi *m (Phi *m x).
  by rewrite trmx_mul !mulmxA.
by rewrite -norm2_mx norm2_gt0 // full_rank.
Qed.

Lemma gram_unit d (Phi : 'M[R]_(n, d)) : \rank Phi = d -> Phi^T *m diag_mx xi *m Phi \in unitmx.
Proof.
move=> full; rewrite -row_free_unit -kermx_eq0; apply/rowV0P => s /sub_kermxP zero.
apply/eqP; rewrite -trmx_eq0; apply/negPn/negP => /(gram_positive full).
by rewrite trmxK zero mul0mx mxE ltxx.
Qed.

Theorem td_1_best_and_stable d (Phi : 'M[R]_(n, d)) (G : 'M[R]_n) (r : 'cV[R]_n) :
  \rank Phi = d -> 1%:M - G \in unitmx ->
  let N := invmx (1%:M - 1 *: G) in let V := invmx (1%:M - G) *m r in
  let A := Phi^T *m diag_mx xi *m N *m (1%:M - G) *m Phi in
  [/\ A = Phi^T *m diag_mx xi *m Phi, forall x : 'cV[R]_d, x != 0 -> 0 < (x^T *m A *m x) 0 0
    & forall theta t, A *m theta = Phi^T *m diag_mx xi *m N *m r ->
      norm2 (Phi *m theta - V) <= norm2 (Phi *m t - V)].
Proof.
move=> full inv N V A; have AC : A = Phi^T *m diag_mx xi *m Phi.
  by rewrite /A /N scale1r -(mulmxA _ (invmx _)) mulVmx ?mulmx1.
split=> // [x nz|theta t e]; first by rewrite AC gram_positive.
by apply: no_less; rewrite mulmxBr !mulmxA -AC e /N scale1r subrr.
Qed.

Theorem double_sampled_residual_gradient d (Phi : 'M[R]_(n, d)) (L : 'M[R]_n) (r : 'cV[R]_n) :
  \rank Phi = d -> L \in unitmx -> let M := L *m Phi in
  (forall x : 'cV[R]_d, x != 0 -> 0 < (x^T *m (M^T *m diag_mx xi *m M) *m x) 0 0) /\
  forall theta t, M^T *m diag_mx xi *m (M *m theta - r) = 0 -> norm2 (M *m theta - r) <= norm2 (M *m t - r).
Proof.
move=> full inv M; split=> [x nz|theta t]; last exact: no_less.
have whole : row_full L by rewrite row_full_unit.
by apply: gram_positive => //; rewrite /M (eqmxMfull Phi whole).
Qed.

(* k^2 < min xi makes what is at most k times probabilities Q harmless *)
Lemma harmless d (Phi : 'M[R]_(n, d)) (Q H : 'M[R]_n) (k : R) (x : 'cV[R]_d) :
  \rank Phi = d -> (forall i j, 0 <= Q i j) -> (forall i, \sum_j Q i j = 1) -> \sum_i xi 0 i = 1 -> 0 <= k ->
  (forall i j, 0 <= H i j <= k * Q i j) -> (forall i, k ^+ 2 < xi 0 i) -> x != 0 ->
  0 < (x^T *m (Phi^T *m diag_mx xi *m (1%:M - H) *m Phi) *m x) 0 0.
Proof.
move=> full Q0 rows one k0 range small nz.
have -> : x^T *m (Phi^T *m diag_mx xi *m (1%:M - H) *m Phi) *m x
  = (Phi *m x)^T *m diag_mx xi *m (1%:M - H) *m (Phi *m x) by rewrite trmx_mul !mulmxA.
have := full_rank full nz; move: (Phi *m x) => v vnz; rewrite form_as_sum.
have two : 0 < (2%:R : R) by rewrite ltr0n.
have nz2 : (2%:R : R) != 0 by rewrite gt_eqF.
pose w : 'rV[R]_n := \row_j (2%:R^-1 * (xi 0 j - k ^+ 2 * \sum_i xi 0 i * Q i j)).
have wp j : 0 < w 0 j.
  rewrite mxE mulr_gt0 ?invr_gt0 // subr_gt0; apply: le_lt_trans (small j).
  rewrite -[leRHS]mulr1 ler_wpmul2l ?sqr_ge0 // -one ler_sum // => i _.
  rewrite -[leRHS]mulr1 ler_wpmul2l ?(ltW (positive i)) // -(rows i) (bigD1 j) //= ler_addl sumr_ge0 //.
apply: lt_le_trans (sum_pos wp vnz) _.
have -> : \sum_j w 0 j * v j 0 ^+ 2 = \sum_i \sum_j (xi 0 i * v i 0 * (i == j)%:R * v j 0
    - xi 0 i * Q i j * (2%:R^-1 * (v i 0 ^+ 2 + k ^+ 2 * v j 0 ^+ 2))).
  have -> : \sum_i \sum_j (xi 0 i * v i 0 * (i == j)%:R * v j 0
      - xi 0 i * Q i j * (2%:R^-1 * (v i 0 ^+ 2 + k ^+ 2 * v j 0 ^+ 2)))
    = \sum_i (xi 0 i * v i 0 ^+ 2 - 2%:R^-1 * xi 0 i * v i 0 ^+ 2)
      - \sum_i \sum_j xi 0 i * Q i j * (2%:R^-1 * k ^+ 2 * v j 0 ^+ 2).
    rewrite -sumrB; apply: eq_bigr => i _; rewrite sumrB.
    rewrite (bigD1 i) //= eqxx big1 => [|j /negbTE ne]; last by rewrite eq_sym ne mulr0 mul0r.
    rewrite addr0 mulr1 -mulrA -expr2 -addrA; congr (_ + _).
    rewrite (eq_bigr (fun j => Q i j * (2%:R^-1 * xi 0 i * v i 0 ^+ 2)
      + xi 0 i * Q i j * (2%:R^-1 * k ^+ 2 * v j 0 ^+ 2))) => [|j _]; last by by_scalars R.
    by rewrite big_split /= -mulr_suml rows mul1r opprD.
  rewrite exchange_big -sumrB; apply: eq_bigr => j _ /=; rewrite -mulr_suml mxE.
  by move: (\sum_i _) => S; by_scalars R.
apply: ler_sum => i _; apply: ler_sum => j _.
have -> : xi 0 i * v i 0 * ((i == j)%:R - H i j) * v j 0
  = xi 0 i * v i 0 * (i == j)%:R * v j 0 - xi 0 i * (H i j * (v i 0 * v j 0)).
  by move: (i == j)%:R => e; by_scalars R.
rewrite ler_add2l ler_opp2 -mulrA ler_wpmul2l ?(ltW (positive i)) //.
case/andP: (range i j) => h0 h1.
apply: (@le_trans _ _ (Q i j * (k * `|v i 0 * v j 0|))).
  apply: (@le_trans _ _ (H i j * `|v i 0 * v j 0|)); first by rewrite ler_wpmul2l // ler_norm.
  by rewrite mulrA [Q i j * k]mulrC ler_wpmul2r.
rewrite ler_wpmul2l // -(ler_pmul2l two) mulrA [X in _ <= X]mulrA divff // mul1r -subr_ge0.
have -> : v i 0 ^+ 2 + k ^+ 2 * v j 0 ^+ 2 - 2%:R * k * `|v i 0 * v j 0| = (`|v i 0| - k * `|v j 0|) ^+ 2.
  by rewrite normrM -(real_normK (num_real (v i 0))) -(real_normK (num_real (v j 0))); by_scalars R.
exact: sqr_ge0.
Qed.

(* One feature less than states: what is orthogonal to the span is one line, so the error is the norm of I - Pi_X
   times the best one. X = L'Xi Phi, A theta = b. *)
Section OneLess.
Variables (d : nat) (Phi : 'M[R]_(n, d)) (L : 'M[R]_n) (V : 'cV[R]_n).
Hypothesis full : \rank Phi = d.
Hypothesis one_less : n = d.+1.
Let Xi := diag_mx xi.
Let X := L^T *m Xi *m Phi.
Let Pi := Phi *m invmx (Phi^T *m Xi *m Phi) *m Phi^T *m Xi.
Let Q := 1%:M - Phi *m invmx (X^T *m Phi) *m X^T.

Lemma one_line (e o : 'cV[R]_n) : e != 0 -> Phi^T *m Xi *m e = 0 -> Phi^T *m Xi *m o = 0 -> exists k, o = k *: e.
Proof.
move=> nz oe oo; pose K := kermx (Phi^T *m Xi)^T.
have unit : Xi \in unitmx.
  rewrite -row_free_unit -kermx_eq0; apply/rowV0P => s /sub_kermxP zero.
  apply/rowP => i; have := congr1 (fun M : 'rV_n => M 0 i) zero; rewrite mul_mx_diag !mxE => /eqP.
  by rewrite mulf_eq0 (gt_eqF (positive i)) orbF => /eqP.
have rank : \rank K = 1%N.
  have r : \rank (Phi^T *m Xi)^T = d.
    by rewrite mxrank_tr mxrankMfree ?row_free_unit // mxrank_tr.
  by rewrite /K mxrank_ker r one_less subSnn.
have inK (z : 'cV[R]_n) : Phi^T *m Xi *m z = 0 -> (z^T <= K)%MS.
  by move=> zero; apply/sub_kermxP; rewrite -trmx_mul zero trmx0.
have re : \rank e^T = 1%N by rewrite rank_rV trmx_eq0 nz.
have same : (K <= e^T)%MS.
  by have := mxrank_leqif_sup (inK _ oe); rewrite re rank => -[_]; rewrite eqxx => <-.
have /sub_rVP [k ok] := submx_trans (inK _ oo) same.
by exists k; apply: trmx_inj; rewrite ok linearZ.
Qed.

Theorem oblique_bound_attained (theta : 'cV[R]_d) : X^T *m Phi \in unitmx -> V != Pi *m V ->
  Phi^T *m Xi *m L *m Phi *m theta = Phi^T *m Xi *m L *m V ->
  forall z, norm2 (Q *m z) * norm2 (V - Pi *m V) <= norm2 (V - Phi *m theta) * norm2 z.
Proof.
move=> inv away fixed z; have invC := gram_unit full.
have sym : Xi^T = Xi by rewrite tr_diag_mx.
have -> : V - Phi *m theta = Q *m (V - Pi *m V) by exact: oblique_bound sym invC inv fixed.
set e := V - Pi *m V; have nz : e != 0 by rewrite subr_eq0.
have ortho (u : 'cV[R]_n) : Phi^T *m Xi *m (u - Pi *m u) = 0.
  by rewrite mulmxBr /Pi !mulmxA mulmxV // mul1mx subrr.
have [k zk] := one_line nz (ortho V) (ortho z).
pose s := invmx (Phi^T *m Xi *m Phi) *m Phi^T *m Xi *m z.
have split : z = Phi *m s + k *: e by rewrite -zk /s /Pi !mulmxA addrC subrK.
have QPhi : Q *m (Phi *m s) = 0.
  by rewrite /Q mulmxBl mul1mx -!mulmxA (mulmxA X^T) mulKmx // subrr.
have -> : Q *m z = k *: (Q *m e) by rewrite split mulmxDr QPhi add0r scalemxAr.
have size : k ^+ 2 * norm2 e <= norm2 z.
  have -> : norm2 z = norm2 (Phi *m s) + k ^+ 2 * norm2 e.
    rewrite {1}split norm2D norm2Z innerZr inner_span (ortho V) mulmx0 mxE; by_scalars R.
  by rewrite ler_addr norm2_ge0.
by rewrite norm2Z mulrAC [X in _ <= X]mulrC ler_wpmul2r ?norm2_ge0.
Qed.
End OneLess.

Section Steps.
Variables (d : nat) (Phi : 'M[R]_(n, d)) (P g : 'M[R]_n) (gamma : R).
Hypothesis full : \rank Phi = d.
Hypothesis xi_sum : \sum_i xi 0 i = 1.
Hypothesis P_nonneg : forall i j, 0 <= P i j.
Hypothesis P_rows : forall i, \sum_j P i j = 1.
Hypothesis gamma_nonneg : 0 <= gamma.
Hypothesis g_range : forall i j, 0 <= g i j <= gamma.   (* the discount of each transition *)
Let G : 'M[R]_n := \matrix_(i, j) (P i j * g i j).
Let power (M : 'M[R]_n) m := iter m (mulmx M) 1%:M.

Lemma power_range m : [/\ forall i j, 0 <= power P m i j, forall i, \sum_j power P m i j = 1
  & forall i j, 0 <= power G m i j <= gamma ^+ m * power P m i j].
Proof.
elim: m => [|m [P0 rows range]].
  split=> [i j|i|i j]; rewrite /power /=.
  - by rewrite mxE ler0n.
  - by rewrite (bigD1 i) //= mxE eqxx big1 ?addr0 // => j; rewrite mxE eq_sym => /negbTE ->.
  by rewrite expr0 mul1r lexx andbT mxE ler0n.
have G0 i j : 0 <= G i j by rewrite mxE mulr_ge0 //; case/andP: (g_range i j).
split=> [i j|i|i j]; rewrite /power /= -/(power _ m).
- by rewrite mxE sumr_ge0 // => k _; rewrite mulr_ge0.
- rewrite (eq_bigr _ (fun j _ => mxE _ _ i j)) exchange_big -[RHS](P_rows i); apply: eq_bigr => k _ /=.
  by rewrite -mulr_sumr rows mulr1.
rewrite !mxE sumr_ge0 => [|k _]; last by rewrite mulr_ge0 //; case/andP: (range k j).
rewrite /= mulr_sumr ler_sum // => k _; case/andP: (range k j) => a b; case/andP: (g_range i k) => c e.
rewrite mxE exprS; apply: (@le_trans _ _ (P i k * gamma * (gamma ^+ m * power P m k j))).
  by apply: ler_pmul => //; rewrite ?mulr_ge0 // ler_wpmul2l.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; move: (gamma ^+ m) (power P m k j) => x y; by_scalars R.
Qed.

Theorem n_steps_stabilise m (x : 'cV[R]_d) : (forall i, (gamma ^+ m) ^+ 2 < xi 0 i) -> x != 0 ->
  0 < (x^T *m (Phi^T *m diag_mx xi *m (1%:M - power G m) *m Phi) *m x) 0 0.
Proof.
move=> small nz; have [P0 rows range] := power_range m.
by apply: (@harmless _ _ (power P m) _ (gamma ^+ m)) => //; rewrite exprn_ge0.
Qed.

Theorem td_some_discount_stable (x : 'cV[R]_d) : (forall i, gamma ^+ 2 < xi 0 i) -> x != 0 ->
  0 < (x^T *m (Phi^T *m diag_mx xi *m (1%:M - G) *m Phi) *m x) 0 0.
Proof.
move=> small nz; have := @n_steps_stabilise 1 x; rewrite /power /= mulmx1 expr1; exact.
Qed.
End Steps.

Section OnPolicy.
Variables (d : nat) (Phi : 'M[R]_(n, d)) (P g : 'M[R]_n) (gamma : R).
Hypothesis full : \rank Phi = d.
Hypothesis P_nonneg : forall i j, 0 <= P i j.
Hypothesis P_rows : forall i, \sum_j P i j = 1.
Hypothesis g_range : forall i j, 0 <= g i j <= gamma.   (* the discount of each transition *)
Hypothesis gamma_range : 0 <= gamma < 1.
Hypothesis stationary : forall j, \sum_i xi 0 i * P i j = xi 0 j.
Let G : 'M[R]_n := \matrix_(i, j) (P i j * g i j).

Theorem on_policy_td_stable (x : 'cV[R]_d) : x != 0 ->
  0 < (x^T *m (Phi^T *m diag_mx xi *m (1%:M - G) *m Phi) *m x) 0 0.
Proof. by case/andP: gamma_range => _ small; apply: td_on_policy_stable stationary x. Qed.

Section Lambda.
Variable lam : R.
Hypothesis lam_range : 0 <= lam <= 1.
Let N := invmx (1%:M - lam *: G).
Let kappa := gamma * (1 - lam) / (1 - gamma * lam).

(* theta: the fixed point, A theta = Phi'Xi N r; t: any other weights, such as those of the best approximation *)
Theorem td_bound_pythagoras (r : 'cV[R]_n) (theta t : 'cV[R]_d) :
  let V := invmx (1%:M - G) *m r in
  Phi^T *m diag_mx xi *m N *m (1%:M - G) *m Phi *m theta = Phi^T *m diag_mx xi *m N *m r ->
  (1 - kappa ^+ 2) * norm2 (Phi *m theta - V) <= norm2 (Phi *m t - V).
Proof.
move=> V fixed; case/andP: gamma_range => g0 g1.
have kc : kappa = (1 - lam) * gamma / (1 - lam * gamma) by rewrite /kappa [gamma * (1 - lam)]mulrC [gamma * lam]mulrC.
have inv : 1%:M - G \in unitmx.
  apply: (resolvent_exists (c := gamma)) => // [i j|i].
    by rewrite mxE mulr_ge0 //; case/andP: (g_range i j).
  rewrite -[leRHS]mul1r -(P_rows i) mulr_suml ler_sum // => j _.
  by rewrite mxE ler_wpmul2l //; case/andP: (g_range i j).
apply: (@error_bound (1%:M - N *m (1%:M - G)) kappa) => [i j|i|j||].
- exact: (G_lambda_nonneg P_nonneg P_rows g_range g1 lam_range g0).
- by rewrite kc; exact: (G_lambda_rows P_nonneg P_rows g_range g1 lam_range g0).
- rewrite kc; apply: (G_lambda_columns positive P_nonneg P_rows g_range g1 stationary lam_range g0).
- by rewrite kc; exact: (lambda_factor g1 lam_range g0).
rewrite subKr !mulmxA [LHS]mulmxBr [in X in X - _]mulmxA fixed; apply/eqP; rewrite subr_eq0; apply/eqP.
by rewrite /V -[RHS]mulmxA mulKVmx.
Qed.

Theorem td_bound_on_policy (r : 'cV[R]_n) (theta t : 'cV[R]_d) :
  let V := invmx (1%:M - G) *m r in
  Phi^T *m diag_mx xi *m N *m (1%:M - G) *m Phi *m theta = Phi^T *m diag_mx xi *m N *m r ->
  norm2 (Phi *m theta - V) <= ((1 - lam * gamma) / (1 - gamma)) ^+ 2 * norm2 (Phi *m t - V).
Proof.
move=> V fixed; case/andP: gamma_range => g0 g1; have := td_bound_pythagoras t fixed.
have := lambda_factor g1 lam_range g0; rewrite [lam * gamma]mulrC [(1 - lam) * _]mulrC -/kappa => /andP[k0 k1].
have lp : 0 < 1 - gamma * lam by rewrite mulrC; exact: (lam_positive g1 lam_range g0).
have factor : (1 - gamma * lam) / (1 - gamma) = (1 - kappa)^-1.
  have nz : 1 - gamma * lam != 0 by rewrite gt_eqF.
  have -> : 1 - kappa = (1 - gamma) / (1 - gamma * lam) by rewrite /kappa; by_scalars R.
  by rewrite invf_div.
rewrite factor => bound; have p1 : 0 < 1 - kappa by rewrite subr_gt0.
have e0 := norm2_ge0 (Phi *m theta - V).
rewrite exprVn mulrC ler_pdivl_mulr ?exprn_gt0 //; apply: le_trans bound.
rewrite mulrC ler_wpmul2r // -subr_ge0.
have -> : 1 - kappa ^+ 2 - (1 - kappa) ^+ 2 = 2%:R * (kappa * (1 - kappa)) by by_scalars R.
by rewrite mulr_ge0 ?ler0n // mulr_ge0 // ltW.
Qed.
End Lambda.

Let G_nonneg i j : 0 <= G i j.
Proof. by rewrite mxE mulr_ge0 //; case/andP: (g_range i j). Qed.
Let G_rows i : \sum_j G i j <= gamma.
Proof.
rewrite -[leRHS]mul1r -(P_rows i) mulr_suml ler_sum // => j _.
by rewrite mxE ler_wpmul2l //; case/andP: (g_range i j).
Qed.
Let G_columns j : \sum_i xi 0 i * G i j <= gamma * xi 0 j.
Proof.
rewrite -stationary mulr_sumr ler_sum // => i _; rewrite mxE mulrA [leRHS]mulrC.
by rewrite ler_wpmul2l ?mulr_ge0 ?(ltW (positive i)) //; case/andP: (g_range i j).
Qed.

(* V = r + G V *)
Theorem bellman_error_bounds_error (r V guess : 'cV[R]_n) : V = r + G *m V ->
  (1 - gamma) ^+ 2 * norm2 (guess - V) <= norm2 (guess - (r + G *m guess)).
Proof.
move=> e; have re : r = V - G *m V by rewrite {1}e addrK.
have -> : guess - (r + G *m guess) = guess - V - G *m (guess - V) by rewrite re mulmxBr; linear R.
exact: residual_bound G_nonneg G_rows G_columns gamma_range _.
Qed.

(* the factor of a whole sweep, I - C^-1 A; an eigenvalue a + i b with the eigenvector x + i y *)
Theorem fqi_on_policy (a b : R) (x y : 'cV[R]_d) :
  let C := Phi^T *m diag_mx xi *m Phi in let A := Phi^T *m diag_mx xi *m (1%:M - G) *m Phi in
  let F := 1%:M - invmx C *m A in
  F *m x = a *: x - b *: y -> F *m y = a *: y + b *: x -> (x != 0) || (y != 0) -> a ^+ 2 + b ^+ 2 < 1.
Proof.
move=> C A F e1 e2 some; case/andP: (gamma_range) => g0 g1; have inv := gram_unit full.
have sweep z : norm2 (Phi *m (F *m z)) <= gamma ^+ 2 * norm2 (Phi *m z).
  have CF : Phi^T *m diag_mx xi *m (Phi *m (F *m z) - G *m (Phi *m z)) = 0.
    rewrite mulmxBr !mulmxA -/C /F mulmxBr mulmx1 mulKVmx // mulmxBl /A mulmxBr mulmxBl mulmx1 mulmxBl.
    by rewrite opprB addrCA subrr addr0 subrr.
  have := inner_span Phi (F *m z) (Phi *m (F *m z) - G *m (Phi *m z)); rewrite CF mulmx0 mxE innerB.
  have near := norm2_ge0 (Phi *m (F *m z) - G *m (Phi *m z)).
  have := contraction G_nonneg G_rows G_columns gamma_range (Phi *m z).
  move: near; rewrite norm2D innerN norm2N.
  have -> : inner (Phi *m (F *m z)) (Phi *m (F *m z)) = norm2 (Phi *m (F *m z)).
    by rewrite inner_mx -norm2_mx.
  move: (norm2 _) (norm2 (G *m _)) (inner _ _) (norm2 (Phi *m z)) => p q i u near small /eqP.
  rewrite subr_eq0 => /eqP pi; apply: le_trans small; move: near; rewrite -pi.
  have -> : p + 2%:R * - p + q = q - p by by_scalars R.
  by rewrite subr_ge0.
pose u := Phi *m x; pose w := Phi *m y.
have := sweep x; have := sweep y; rewrite e1 e2 mulmxBr mulmxDr -!scalemxAr -/u -/w => sy sx.
have T : 0 < norm2 u + norm2 w.
  by case/orP: some => nz; [rewrite ltr_paddr | rewrite ltr_paddl]; rewrite ?norm2_ge0 // norm2_gt0 // full_rank.
have total : (a ^+ 2 + b ^+ 2) * (norm2 u + norm2 w) <= gamma ^+ 2 * (norm2 u + norm2 w).
  have -> : (a ^+ 2 + b ^+ 2) * (norm2 u + norm2 w) = norm2 (a *: u - b *: w) + norm2 (a *: w + b *: u).
    rewrite !norm2D norm2N !norm2Z innerN !innerZl.
    by rewrite !innerZr (innerC w u); by_scalars R.
  by rewrite mulrDr ler_add.
rewrite ler_pmul2r // in total; apply: le_lt_trans total _.
by rewrite expr_lt1.
Qed.
End OnPolicy.
End Norms.
