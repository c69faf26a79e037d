(* The dissipation identities, and what they make positive definite. Over any real field.
   G holds the probabilities of the target's transitions, each times its discount. *)

Section Dissipation.
Variables (R : realFieldType) (n : nat).
Add Field real : (field_field R).
Implicit Types (f : 'rV[R]_n) (G : 'M[R]_n) (v : 'cV[R]_n).

Lemma form_as_sum f G v :
  (v^T *m diag_mx f *m (1%:M - G) *m v) 0 0
  = \sum_i \sum_j (f 0 i * v i 0 * ((i == j)%:R - G i j) * v j 0).
Proof.
rewrite !mxE exchange_big /=; apply: eq_bigr => j _.
rewrite !mxE big_distrl /=; apply: eq_bigr => i _.
by rewrite mul_mx_diag !mxE [v i 0 * _]mulrC.
Qed.

Lemma sum_delta (i : 'I_n) : \sum_j (i == j)%:R = 1 :> R.
Proof.
by rewrite (bigD1 i) //= eqxx big1 ?addr0 // => j /negbTE; rewrite eq_sym => ->.
Qed.

Theorem dissipation_identity_per_transition f G v :
  (v^T *m diag_mx f *m (1%:M - G) *m v) 0 0
  = 2%:R^-1 * (\sum_i \sum_j f 0 i * G i j * (v i 0 - v j 0) ^+ 2)
  + 2%:R^-1 * (\sum_i ((2%:R - \sum_j G i j) * f 0 i - \sum_j f 0 j * G j i) * v i 0 ^+ 2).
Proof.
rewrite form_as_sum -mulrDr.
have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
apply: (mulfI two); rewrite mulrA divff // mul1r.
have -> : \sum_i ((2%:R - \sum_j G i j) * f 0 i - \sum_j f 0 j * G j i) * v i 0 ^+ 2
  = \sum_i \sum_j ((2%:R * (i == j)%:R - G i j) * f 0 i * v i 0 ^+ 2 - f 0 i * G i j * v j 0 ^+ 2).
  have -> : \sum_i \sum_j ((2%:R * (i == j)%:R - G i j) * f 0 i * v i 0 ^+ 2 - f 0 i * G i j * v j 0 ^+ 2)
    = \sum_i \sum_j (2%:R * (i == j)%:R - G i j) * f 0 i * v i 0 ^+ 2
      - \sum_i \sum_j f 0 i * G i j * v j 0 ^+ 2.
    by rewrite -sumrB; apply: eq_bigr => i _; rewrite sumrB.
  rewrite [X in _ = _ - X]exchange_big -sumrB; apply: eq_bigr => i _ /=.
  have -> : \sum_j (2%:R * (i == j)%:R - G i j) * f 0 i * v i 0 ^+ 2
    = (2%:R - \sum_j G i j) * f 0 i * v i 0 ^+ 2.
    by rewrite -!mulr_suml sumrB -mulr_sumr sum_delta mulr1.
  by rewrite -mulr_suml mulrBl.
rewrite big_distrr -big_split /=; apply: eq_bigr => i _.
rewrite big_distrr -big_split /=; apply: eq_bigr => j _.
case: eqP => [<-|_]; rewrite ?mulr1 ?mulr0 /=; by_scalars R.
Qed.

(* f = d + beta P'f, rows of P sum to one, one discount gamma *)
Theorem dissipation_identity (f d : 'rV[R]_n) (P : 'M[R]_n) (v : 'cV[R]_n) (beta gamma : R) :
  beta != 0 -> (forall i, \sum_j P i j = 1) ->
  (forall j, f 0 j = d 0 j + beta * \sum_i f 0 i * P i j) ->
  (v^T *m diag_mx f *m (1%:M - gamma *: P) *m v) 0 0
  = gamma / 2%:R * (\sum_i \sum_j f 0 i * P i j * (v i 0 - v j 0) ^+ 2)
  + \sum_i ((1 - gamma / 2%:R) * f 0 i - gamma / (2%:R * beta) * (f 0 i - d 0 i)) * v i 0 ^+ 2.
Proof.
move=> nz rows follow; rewrite dissipation_identity_per_transition.
have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
congr (_ + _).
  rewrite [gamma / _]mulrC -mulrA; congr (_ * _); rewrite mulr_sumr; apply: eq_bigr => i _.
  rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mxE; by_scalars R.
rewrite mulr_sumr; apply: eq_bigr => i _.
have -> : \sum_j (gamma *: P) i j = gamma.
  by rewrite -[RHS]mulr1 -(rows i) mulr_sumr; apply: eq_bigr => j _; rewrite mxE.
have -> : \sum_j f 0 j * (gamma *: P) j i = gamma * \sum_j f 0 j * P j i.
  by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mxE mulrCA.
move: (follow i); move: (\sum_j _) => S ->; by_scalars R.
Qed.

(* What makes the form positive: rows of G of sum c at most, and f'G at most c f, or f >= xi + G'f. *)
Lemma form_lower f G v (w : 'rV[R]_n) :
  (forall i j, 0 <= f 0 i * G i j) ->
  (forall i, 2%:R * w 0 i <= (2%:R - \sum_j G i j) * f 0 i - \sum_j f 0 j * G j i) ->
  \sum_i w 0 i * v i 0 ^+ 2 <= (v^T *m diag_mx f *m (1%:M - G) *m v) 0 0.
Proof.
move=> nonneg low; rewrite dissipation_identity_per_transition.
have two : 0 < (2%:R : R)^-1 by rewrite invr_gt0 ltr0n.
apply: ler_paddl.
  rewrite mulr_ge0 ?(ltW two) // sumr_ge0 // => i _; rewrite sumr_ge0 // => j _.
  by rewrite mulr_ge0 // sqr_ge0.
rewrite -(ler_pmul2l (_ : 0 < (2%:R : R))) ?ltr0n // mulrA divff ?pnatr_eq0 // mul1r.
rewrite mulr_sumr ler_sum // => i _; rewrite mulrA ler_wpmul2r ?sqr_ge0 //.
Qed.

Lemma sum_pos (w : 'rV[R]_n) v : (forall i, 0 < w 0 i) -> v != 0 -> 0 < \sum_i w 0 i * v i 0 ^+ 2.
Proof.
move=> pos nz; have : exists i, v i 0 != 0.
  apply/existsP; rewrite -negb_forall; apply: contra nz => /forallP zero.
  by apply/eqP/matrixP => i j; rewrite ord1 mxE; apply/eqP; move: (zero i).
case=> i vi; rewrite (bigD1 i) //= ltr_paddr //; last by rewrite mulr_gt0 // lt_def sqrf_eq0 vi sqr_ge0.
by rewrite sumr_ge0 // => j _; rewrite mulr_ge0 ?sqr_ge0 // ltW.
Qed.

Lemma full_rank d (Phi : 'M[R]_(n, d)) (x : 'cV[R]_d) : \rank Phi = d -> x != 0 -> Phi *m x != 0.
Proof.
move=> full; apply: contra => /eqP zero; rewrite -trmx_eq0 -(mulmx_free_eq0 _ (B := Phi^T)).
  by rewrite -trmx_mul zero trmx0.
by rewrite /row_free mxrank_tr full.
Qed.

(* Stability for every lambda is the same with P_lambda = I - N (I - G) = (1 - lambda) N G in the place of G, where
   N = (I - lambda G)^-1 is nonnegative. *)
Section Resolvent.
Implicit Types (u w y : 'rV[R]_n) (H : 'M[R]_n).

(* The negative parts of y = u + y H are at most what H carries of them. *)
Lemma negative_parts H u y : (forall i j, 0 <= H i j) -> (forall i, 0 <= u 0 i) -> y = u + y *m H ->
  forall j, Num.max 0 (- y 0 j) <= \sum_k Num.max 0 (- y 0 k) * H k j.
Proof.
move=> H0 u0 fixed j; have N0 k : 0 <= Num.max 0 (- y 0 k) by rewrite le_maxr lexx.
rewrite {1}le_maxl sumr_ge0 ?andTb => [|k _]; last by rewrite mulr_ge0.
have -> : y 0 j = u 0 j + \sum_i y 0 i * H i j by rewrite {1}fixed !mxE.
rewrite opprD -sumrN; apply: (@le_trans _ _ (\sum_k - (y 0 k * H k j))).
  by rewrite ger_addr oppr_le0.
by rewrite ler_sum // => k _; rewrite -mulNr ler_wpmul2r // le_maxr lexx orbT.
Qed.

(* They would add up to less than themselves. *)
Lemma nonneg_solution H c u y : (forall i j, 0 <= H i j) -> (forall i, \sum_j H i j <= c) -> c < 1 ->
  (forall i, 0 <= u 0 i) -> y = u + y *m H -> forall i, 0 <= y 0 i.
Proof.
move=> H0 rows small u0 fixed.
pose N j := Num.max 0 (- y 0 j).
have N0 j : 0 <= N j by rewrite le_maxr lexx.
have Ny j : - y 0 j <= N j by rewrite le_maxr lexx orbT.
have step j : N j <= \sum_k N k * H k j by exact: negative_parts.
have total : \sum_j N j <= c * \sum_j N j.
  apply: (@le_trans _ _ (\sum_j \sum_k N k * H k j)); first by rewrite ler_sum.
  rewrite exchange_big mulr_sumr ler_sum // => k _ /=.
  by rewrite -mulr_sumr [leRHS]mulrC ler_wpmul2l.
have zero : \sum_j N j = 0.
  apply: le_anti; rewrite sumr_ge0 // andbT; have pos : 0 < 1 - c by rewrite subr_gt0.
  by rewrite -(pmulr_rle0 _ pos) mulrBl mul1r subr_le0.
move=> i; have := @psumr_eq0P _ _ predT N (fun j _ => N0 j) zero i isT.
by move=> Ni; move: (Ny i); rewrite Ni oppr_le0.
Qed.

Section Inverse.
Variables (H : 'M[R]_n) (c : R).
Hypothesis H_nonneg : forall i j, 0 <= H i j.
Hypothesis H_rows : forall i, \sum_j H i j <= c.
Hypothesis c_small : c < 1.

Lemma resolvent_exists : 1%:M - H \in unitmx.
Proof.
rewrite -row_free_unit -kermx_eq0; apply/rowV0P => v /sub_kermxP.
rewrite mulmxBr mulmx1 => /eqP; rewrite subr_eq0 => /eqP fixed.
have up i : 0 <= v 0 i.
  apply: (@nonneg_solution H c 0 v) i => // [i|]; [by rewrite mxE | by rewrite add0r].
have down i : 0 <= (- v) 0 i.
  apply: (@nonneg_solution H c 0 (- v)) i => // [i|]; [by rewrite mxE | by rewrite add0r mulNmx -fixed].
apply/rowP => i; apply: le_anti; rewrite mxE up andbT.
by move: (down i); rewrite mxE oppr_ge0.
Qed.

Lemma resolvent_nonneg i j : 0 <= invmx (1%:M - H) i j.
Proof.
have := @nonneg_solution H c (row i 1%:M) (row i (invmx (1%:M - H))) H_nonneg H_rows c_small.
move=> /(_ _ _ j); rewrite !mxE; apply=> [k|]; first by rewrite !mxE ler0n.
have e : invmx (1%:M - H) = 1%:M + invmx (1%:M - H) *m H.
  by rewrite -[X in _ = X + _](mulVmx resolvent_exists) mulmxBr mulmx1 subrK.
by rewrite {1}e raddfD /= row_mul.
Qed.

(* N >= 0 keeps an order: (I - H)1 >= (1 - c)1 gives 1 >= (1 - c) N1. *)
Lemma resolvent_rows i : (1 - c) * (\sum_j invmx (1%:M - H) i j) <= 1.
Proof.
have e : \sum_j (invmx (1%:M - H) *m (1%:M - H)) i j = 1.
  rewrite (mulVmx resolvent_exists) (bigD1 i) //= mxE eqxx big1 ?addr0 // => j.
  by rewrite mxE eq_sym => /negbTE ->.
rewrite -[leRHS]e mulr_sumr.
have -> : \sum_j (invmx (1%:M - H) *m (1%:M - H)) i j
  = \sum_k invmx (1%:M - H) i k * (\sum_j (1%:M - H) k j).
  by rewrite (eq_bigr _ (fun j _ => mxE _ _ i j)) exchange_big; apply: eq_bigr => k _; rewrite mulr_sumr.
apply: ler_sum => k _; rewrite mulrC ler_wpmul2l ?resolvent_nonneg //.
have -> : \sum_j (1%:M - H) k j = 1 - \sum_j H k j.
  rewrite (eq_bigr (fun j => (k == j)%:R - H k j)) => [|j _]; last by rewrite !mxE.
  rewrite sumrB (bigD1 k) //= eqxx big1 ?addr0 // => j.
  by rewrite eq_sym => /negbTE ->.
by rewrite ler_add2l ler_opp2.
Qed.

(* and xi (I - H) >= (1 - c) xi gives xi >= (1 - c) xi N *)
Lemma resolvent_columns w : (forall j, \sum_i w 0 i * H i j <= c * w 0 j) ->
  forall j, (1 - c) * (\sum_i w 0 i * invmx (1%:M - H) i j) <= w 0 j.
Proof.
move=> cols j; have e : w = w *m (1%:M - H) *m invmx (1%:M - H) by rewrite mulmxK // resolvent_exists.
rewrite {2}e mxE mulr_sumr; apply: ler_sum => i _; rewrite mulrA ler_wpmul2r ?resolvent_nonneg //.
by rewrite mulmxBr mulmx1 !mxE mulrBl mul1r ler_add2l ler_opp2.
Qed.
End Inverse.

Section Traces.
Variables (G : 'M[R]_n) (lam g : R).
Hypothesis G_nonneg : forall i j, 0 <= G i j.
Hypothesis G_rows : forall i, \sum_j G i j <= g.
Hypothesis lam_range : 0 <= lam <= 1.
Hypothesis small : lam * g < 1.
Let N := invmx (1%:M - lam *: G).
Let P_lambda := 1%:M - N *m (1%:M - G).

Lemma lam_nonneg i j : 0 <= (lam *: G) i j.
Proof. by rewrite mxE mulr_ge0 //; case/andP: lam_range. Qed.

Lemma lam_rows i : \sum_j (lam *: G) i j <= lam * g.
Proof.
rewrite (eq_bigr (fun j => lam * G i j)) => [|j _]; last by rewrite mxE.
by rewrite -mulr_sumr ler_wpmul2l //; case/andP: lam_range.
Qed.

Lemma N_exists : 1%:M - lam *: G \in unitmx.
Proof. exact: resolvent_exists lam_nonneg lam_rows small. Qed.

Lemma N_nonneg i j : 0 <= N i j.
Proof. exact: resolvent_nonneg lam_nonneg lam_rows small i j. Qed.

Lemma N_step : N *m (lam *: G) = N - 1%:M.
Proof. by rewrite -(mulVmx N_exists) mulmxBr mulmx1 subKr. Qed.

Lemma P_lambda_form : P_lambda = (1 - lam) *: (N *m G).
Proof.
rewrite /P_lambda mulmxBr mulmx1 scalerBl scale1r scalemxAr N_step.
by rewrite !opprB addrCA addrA addrC.
Qed.
End Traces.
End Resolvent.

Section OnPolicy.
Variables (d : nat) (Phi : 'M[R]_(n, d)) (xi : 'rV[R]_n) (P g : 'M[R]_n) (gamma : R).
Hypothesis full : \rank Phi = d.
Hypothesis positive : forall i, 0 < xi 0 i.
Hypothesis P_nonneg : forall i j, 0 <= P i j.
Hypothesis P_rows : forall i, \sum_j P i j = 1.
Hypothesis g_range : forall i j, 0 <= g i j <= gamma.   (* the discount of each transition *)
Hypothesis gamma_small : gamma < 1.
Let G : 'M[R]_n := \matrix_(i, j) (P i j * g i j).

Lemma G_nonneg i j : 0 <= G i j.
Proof. by rewrite mxE mulr_ge0 //; case/andP: (g_range i j). Qed.

Lemma G_row i : \sum_j G i j <= gamma.
Proof.
rewrite -[leRHS]mul1r -(P_rows i) mulr_suml ler_sum // => j _.
by rewrite mxE ler_wpmul2l //; case/andP: (g_range i j).
Qed.

(* on-policy: xi is stationary for the target itself *)
Hypothesis stationary : forall j, \sum_i xi 0 i * P i j = xi 0 j.

Lemma G_column j : \sum_i xi 0 i * G i j <= gamma * xi 0 j.
Proof.
rewrite -stationary mulr_sumr ler_sum // => i _; rewrite mxE mulrA [leRHS]mulrC.
by rewrite ler_wpmul2l ?mulr_ge0 ?(ltW (positive i)) //; case/andP: (g_range i j).
Qed.

Theorem td_on_policy_stable (x : 'cV[R]_d) : x != 0 ->
  0 < (x^T *m (Phi^T *m diag_mx xi *m (1%:M - G) *m Phi) *m x) 0 0.
Proof.
move=> nz.
have -> : x^T *m (Phi^T *m diag_mx xi *m (1%:M - G) *m Phi) *m x
  = (Phi *m x)^T *m diag_mx xi *m (1%:M - G) *m (Phi *m x) by rewrite trmx_mul !mulmxA.
apply: lt_le_trans (@form_lower _ _ _ ((1 - gamma) *: xi) _ _).
- by apply: sum_pos; [move=> i; rewrite mxE mulr_gt0 // subr_gt0 | exact: full_rank].
- by move=> i j; rewrite mulr_ge0 ?G_nonneg // ltW.
move=> i; rewrite mxE.
have -> : 2%:R * ((1 - gamma) * xi 0 i) = (2%:R - gamma) * xi 0 i - gamma * xi 0 i by by_scalars R.
by rewrite ler_sub ?G_column // ler_pmul2r // ler_sub // G_row.
Qed.

(* G_lambda = (1 - lambda) N G has rows of sum c at most, and xi G_lambda <= c xi, with
   c = (1 - lambda) gamma / (1 - lambda gamma) < 1 *)
Section Lambda.
Variable lam : R.
Hypothesis range : 0 <= lam <= 1.
Hypothesis gamma_nonneg : 0 <= gamma.
Let N := invmx (1%:M - lam *: G).
Let G_lambda := 1%:M - N *m (1%:M - G).
Let c := (1 - lam) * gamma / (1 - lam * gamma).

Lemma lam_small : lam * gamma < 1.
Proof. by case/andP: range => _ lam1; apply: le_lt_trans gamma_small; rewrite -[leRHS]mul1r ler_wpmul2r. Qed.
Lemma lam_positive : 0 < 1 - lam * gamma.
Proof. by rewrite subr_gt0 lam_small. Qed.

Lemma G_lambda_form : G_lambda = (1 - lam) *: (N *m G).
Proof. exact: P_lambda_form G_nonneg G_row range lam_small. Qed.

Lemma N_at i j : 0 <= N i j.
Proof. exact: N_nonneg G_nonneg G_row range lam_small i j. Qed.

Lemma G_lambda_nonneg i j : 0 <= G_lambda i j.
Proof.
case/andP: range => _ lam1; rewrite G_lambda_form mxE mulr_ge0 ?subr_ge0 // mxE sumr_ge0 // => k _.
by rewrite mulr_ge0 ?N_at ?G_nonneg.
Qed.

Lemma G_lambda_rows i : \sum_j G_lambda i j <= c.
Proof.
case/andP: range => _ lam1; have k0 := lam_positive; rewrite G_lambda_form.
rewrite (eq_bigr (fun j => (1 - lam) * (N *m G) i j)) => [|j _]; last by rewrite mxE.
rewrite -mulr_sumr /c -mulrA ler_wpmul2l ?subr_ge0 // ler_pdivl_mulr //.
have -> : \sum_j (N *m G) i j = \sum_k N i k * \sum_j G k j.
  by rewrite (eq_bigr _ (fun j _ => mxE _ _ i j)) exchange_big; apply: eq_bigr => k _; rewrite mulr_sumr.
apply: (@le_trans _ _ ((\sum_k N i k) * gamma * (1 - lam * gamma))).
  by rewrite ler_wpmul2r ?(ltW k0) // mulr_suml ler_sum // => k _; rewrite ler_wpmul2l ?N_at ?G_row.
rewrite mulrAC -[leRHS]mul1r ler_wpmul2r // mulrC.
exact: resolvent_rows (lam_nonneg G_nonneg range) (lam_rows G_row range) lam_small i.
Qed.

Lemma G_lambda_columns j : \sum_i xi 0 i * G_lambda i j <= c * xi 0 j.
Proof.
case/andP: (range) => lam0 lam1; have k0 := lam_positive; rewrite G_lambda_form.
have -> : \sum_i xi 0 i * ((1 - lam) *: (N *m G)) i j = (1 - lam) * \sum_k (\sum_i xi 0 i * N i k) * G k j.
  rewrite mulr_sumr [LHS](eq_bigr (fun i => \sum_k (1 - lam) * (xi 0 i * N i k * G k j))) => [|i _].
    by rewrite exchange_big; apply: eq_bigr => k _ /=; rewrite -mulr_sumr mulr_suml.
  by rewrite !mxE mulrCA mulr_sumr mulr_sumr; apply: eq_bigr => k _; rewrite !mulrA.
have weights k : (\sum_i xi 0 i * N i k) <= xi 0 k / (1 - lam * gamma).
  rewrite ler_pdivl_mulr // mulrC.
  apply: (resolvent_columns (lam_nonneg G_nonneg range) (lam_rows G_row range) lam_small) => i.
  rewrite (eq_bigr (fun j => lam * (xi 0 j * G j i))) => [|m _]; last by rewrite mxE mulrCA.
  by rewrite -mulr_sumr -mulrA ler_wpmul2l ?G_column.
have -> : c * xi 0 j = (1 - lam) * ((1 - lam * gamma)^-1 * (gamma * xi 0 j)).
  by rewrite /c -!mulrA; congr (_ * _); rewrite mulrCA.
rewrite ler_wpmul2l ?subr_ge0 //.
apply: (@le_trans _ _ ((1 - lam * gamma)^-1 * \sum_k xi 0 k * G k j)).
  by rewrite mulr_sumr ler_sum // => k _; rewrite mulrA ler_wpmul2r ?G_nonneg // mulrC.
by rewrite ler_wpmul2l ?invr_ge0 ?(ltW k0) ?G_column.
Qed.

Lemma lambda_factor : 0 <= c < 1.
Proof.
case/andP: range => _ lam1; have k0 := lam_positive; apply/andP; split.
  by rewrite /c divr_ge0 ?(ltW k0) // mulr_ge0 // subr_ge0.
by rewrite /c ltr_pdivr_mulr // mul1r mulrBl mul1r ltr_add2r.
Qed.
End Lambda.

Theorem td_lambda_on_policy_stable (lam : R) (x : 'cV[R]_d) : 0 <= lam <= 1 -> x != 0 ->
  let N := invmx (1%:M - lam *: G) in 1%:M - lam *: G \in unitmx /\
  0 < (x^T *m (Phi^T *m diag_mx xi *m N *m (1%:M - G) *m Phi) *m x) 0 0.
Proof.
move=> range nz N; have vnz := full_rank full nz.
case: (pickP (fun i => (Phi *m x) i 0 != 0)) => [i0 _|none]; last first.
  case/eqP: vnz; apply/matrixP => i j; rewrite ord1 [RHS]mxE; apply/eqP; move: (none i) => /negbFE //.
have gamma0 : 0 <= gamma by case/andP: (g_range i0 i0) => a b; exact: le_trans a b.
have [c0 c1] := andP (lambda_factor range gamma0).
split; first exact: N_exists G_nonneg G_row range (lam_small range gamma0).
have -> : x^T *m (Phi^T *m diag_mx xi *m N *m (1%:M - G) *m Phi) *m x
  = (Phi *m x)^T *m diag_mx xi *m (1%:M - (1%:M - N *m (1%:M - G))) *m (Phi *m x).
  by rewrite subKr trmx_mul !mulmxA.
set c := _ / _ in c0 c1; apply: lt_le_trans (@form_lower _ _ _ ((1 - c) *: xi) _ _).
- by apply: sum_pos => // i; rewrite mxE mulr_gt0 // subr_gt0.
- by move=> i j; rewrite mulr_ge0 ?G_lambda_nonneg // ltW.
move=> i; rewrite mxE.
have -> : 2%:R * ((1 - c) * xi 0 i) = (2%:R - c) * xi 0 i - c * xi 0 i by by_scalars R.
by rewrite ler_sub ?G_lambda_columns // ler_pmul2r // ler_sub // G_lambda_rows.
Qed.
End OnPolicy.

Section Emphatic.
Variables (d : nat) (Phi : 'M[R]_(n, d)) (xi f : 'rV[R]_n) (G : 'M[R]_n).
Hypothesis full : \rank Phi = d.
Hypothesis positive : forall i, 0 < xi 0 i.
Hypothesis G_nonneg : forall i j, 0 <= G i j.
Hypothesis G_rows : forall i, \sum_j G i j <= 1.
Hypothesis follow_on : f = xi + f *m G.       (* f = xi + G'f *)

Lemma follow_on_at j : f 0 j = xi 0 j + \sum_i f 0 i * G i j.
Proof. by rewrite {1}follow_on !mxE. Qed.

(* Its negative parts would add up to less than themselves. *)
Lemma f_nonneg i : 0 <= f 0 i.
Proof.
rewrite leNgt; apply/negP => neg.
pose N j := Num.max 0 (- f 0 j).
have Nf j : - f 0 j <= N j by rewrite le_maxr lexx orbT.
have N0 j : 0 <= N j by rewrite le_maxr lexx.
have step j : N j <= \sum_k N k * G k j by apply: negative_parts follow_on j => // j; exact: ltW.
have strict : N i < \sum_k N k * G k i.
  have -> : N i = - f 0 i by rewrite /N max_r // oppr_ge0 ltW.
  rewrite follow_on_at opprD -sumrN; apply: (@lt_le_trans _ _ (\sum_k - (f 0 k * G k i))).
    by rewrite gtr_addr oppr_lt0.
  by rewrite ler_sum // => k _; rewrite -mulNr ler_wpmul2r.
have : \sum_j N j < \sum_j \sum_k N k * G k j.
  by rewrite [ltLHS](bigD1 i) // [ltRHS](bigD1 i) //= ltr_le_add // ler_sum.
rewrite exchange_big /= ltNge; case/negP; apply: ler_sum => k _.
by rewrite -mulr_sumr -[leRHS]mulr1 ler_wpmul2l.
Qed.

Theorem etd_off_policy_stable (x : 'cV[R]_d) : x != 0 ->
  0 < (x^T *m (Phi^T *m diag_mx f *m (1%:M - G) *m Phi) *m x) 0 0.
Proof.
move=> nz.
have -> : x^T *m (Phi^T *m diag_mx f *m (1%:M - G) *m Phi) *m x
  = (Phi *m x)^T *m diag_mx f *m (1%:M - G) *m (Phi *m x) by rewrite trmx_mul !mulmxA.
have two : 0 < (2%:R : R) by rewrite ltr0n.
apply: lt_le_trans (@form_lower _ _ _ (2%:R^-1 *: xi) _ _).
- by apply: sum_pos; [move=> i; rewrite mxE mulr_gt0 // invr_gt0 | exact: full_rank].
- by move=> i j; rewrite mulr_ge0 ?f_nonneg.
move=> i; rewrite mxE mulrA divff ?lt0r_neq0 // mul1r.
have -> : xi 0 i = f 0 i - \sum_j f 0 j * G j i by rewrite {1}follow_on_at addrK.
rewrite ler_add2r -[leLHS]mul1r ler_wpmul2r ?f_nonneg // ler_subr_addr.
by apply: (@le_trans _ _ (1 + 1)); rewrite ?ler_add2l ?G_rows // -(natrD _ 1 1).
Qed.
End Emphatic.

Section EmphaticTraces.
Variables (d : nat) (Phi : 'M[R]_(n, d)) (xi : 'rV[R]_n) (G : 'M[R]_n).
Hypothesis full : \rank Phi = d.
Hypothesis positive : forall i, 0 < xi 0 i.
Hypothesis G_nonneg : forall i j, 0 <= G i j.
Hypothesis G_rows : forall i, \sum_j G i j <= 1.

(* P_lambda = I - N (I - G) and m = xi + P_lambda'm, where the values exist; at lambda = 1, m = xi *)
Theorem etd_lambda_off_policy_stable (lam : R) (x : 'cV[R]_d) :
  1%:M - G \in unitmx -> 0 <= lam <= 1 -> x != 0 ->
  let P_lambda := 1%:M - invmx (1%:M - lam *: G) *m (1%:M - G) in
  let m := xi *m invmx (1%:M - P_lambda) in
  [/\ 1%:M - lam *: G \in unitmx, 1%:M - P_lambda \in unitmx &
      0 < (x^T *m (Phi^T *m diag_mx m *m (1%:M - P_lambda) *m Phi) *m x) 0 0].
Proof.
move=> exists_ range nz P_lambda m; case/andP: (range) => lam0 lam1; move: lam1; rewrite le_eqVlt => /orP lam1.
have inv : 1%:M - lam *: G \in unitmx.
  case: lam1 => [/eqP ->|lt]; first by rewrite scale1r.
  by apply: (N_exists G_nonneg G_rows range); rewrite mulr1.
have inv2 : 1%:M - P_lambda \in unitmx by rewrite subKr unitmx_mul unitmx_inv inv.
split=> //.
have nonneg : (forall i j, 0 <= P_lambda i j) /\ (forall i, \sum_j P_lambda i j <= 1).
  case: lam1 => [/eqP e|lt].
    have -> : P_lambda = 0 by rewrite /P_lambda e scale1r mulVmx // subrr.
    by split=> [i j|i]; [rewrite mxE | rewrite big1 ?ler01 // => j _; rewrite mxE].
  have small : lam * 1 < 1 by rewrite mulr1.
  have l0 : 0 < 1 - lam by rewrite subr_gt0.
  have Hn := lam_nonneg G_nonneg range; have Hr := lam_rows G_rows range.
  have Nn := N_nonneg G_nonneg G_rows range small.
  rewrite /P_lambda (P_lambda_form G_nonneg G_rows range small).
  have gl i j : 0 <= (invmx (1%:M - lam *: G) *m G) i j.
    by rewrite mxE sumr_ge0 // => k _; rewrite mulr_ge0.
  split=> [i j|i]; first by rewrite mxE mulr_ge0 // ltW.
  rewrite (eq_bigr (fun j => (1 - lam) * (invmx (1%:M - lam *: G) *m G) i j)) => [|j _]; last by rewrite mxE.
  rewrite -mulr_sumr.
  have -> : \sum_j (invmx (1%:M - lam *: G) *m G) i j = \sum_k invmx (1%:M - lam *: G) i k * \sum_j G k j.
    by rewrite (eq_bigr _ (fun j _ => mxE _ _ i j)) exchange_big; apply: eq_bigr => k _; rewrite mulr_sumr.
  apply: (@le_trans _ _ ((1 - lam * 1) * \sum_k invmx (1%:M - lam *: G) i k)).
    by rewrite mulr1 ler_wpmul2l ?(ltW l0) // ler_sum // => k _; rewrite -[leRHS]mulr1 ler_wpmul2l.
  exact: resolvent_rows Hn Hr small i.
case: nonneg => Pn Pr; apply: (etd_off_policy_stable full positive Pn Pr) => //.
have e : m *m (1%:M - P_lambda) = xi by rewrite mulmxKV.
by rewrite -{1}e mulmxBr mulmx1 subrK.
Qed.
End EmphaticTraces.

(* f = xi + beta f P, the follow-on trace that decays by beta. The premise is gamma^2 (1 - kappa) < beta with
   kappa = min xi/f, written for each state. *)
Section Decay.
Variables (d : nat) (Phi : 'M[R]_(n, d)) (xi f : 'rV[R]_n) (P g : 'M[R]_n) (gamma beta : R).
Hypothesis full : \rank Phi = d.
Hypothesis positive : forall i, 0 < xi 0 i.
Hypothesis P_nonneg : forall i j, 0 <= P i j.
Hypothesis P_rows : forall i, \sum_j P i j = 1.
Hypothesis g_range : forall i j, 0 <= g i j <= gamma.   (* the discount of each transition *)
Hypothesis beta_range : 0 < beta < 1.
Hypothesis follow_on : f = xi + beta *: (f *m P).
Let G : 'M[R]_n := \matrix_(i, j) (P i j * g i j).

Lemma decay_positive i : 0 < f 0 i.
Proof.
case/andP: beta_range => b0 b1.
have Hn k j : 0 <= (beta *: P) k j by rewrite mxE mulr_ge0 // ltW.
have Hr k : \sum_j (beta *: P) k j <= beta.
  by rewrite (eq_bigr (fun j => beta * P k j)) => [|j _]; rewrite ?mxE // -mulr_sumr P_rows mulr1.
have f0 : forall k, 0 <= f 0 k.
  apply: (@nonneg_solution (beta *: P) beta xi f Hn Hr b1) => [k|]; first exact: ltW.
  by rewrite -scalemxAr.
rewrite follow_on !mxE ltr_paddr // mulr_ge0 ?(ltW b0) // sumr_ge0 // => k _.
by rewrite mulr_ge0.
Qed.

(* g v_i v_j <= (v_i^2 + gamma^2 v_j^2)/2, and beta f P = f - xi *)
Theorem etd_beta_window :
  ((forall i, gamma ^+ 2 * (1 - xi 0 i / f 0 i) < beta) ->
   forall x : 'cV[R]_d, x != 0 ->
   0 < (x^T *m (Phi^T *m diag_mx f *m (1%:M - G) *m Phi) *m x) 0 0)
  /\ (gamma ^+ 2 <= beta -> forall i, gamma ^+ 2 * (1 - xi 0 i / f 0 i) < beta).
Proof.
case/andP: beta_range => b0 b1; have fp := decay_positive.
have at_ j : \sum_i f 0 i * P i j = (f 0 j - xi 0 j) / beta.
  have e : f 0 j = xi 0 j + beta * \sum_i f 0 i * P i j by rewrite {1}follow_on !mxE.
  by rewrite e addrC addKr mulrC mulKf // gt_eqF.
split=> [window x nz|enough i]; last first.
  case: (eqVneq gamma 0) => [->|nz]; first by rewrite expr0n mul0r.
  apply: lt_le_trans enough; rewrite gtr_pmulr; last by rewrite lt_def sqrf_eq0 nz sqr_ge0.
  by rewrite gtr_addl oppr_lt0 divr_gt0.
have two : 0 < (2%:R : R) by rewrite ltr0n.
have -> : x^T *m (Phi^T *m diag_mx f *m (1%:M - G) *m Phi) *m x
  = (Phi *m x)^T *m diag_mx f *m (1%:M - G) *m (Phi *m x) by rewrite trmx_mul !mulmxA.
have := full_rank full nz; move: (Phi *m x) => v vnz.
rewrite form_as_sum.
pose w : 'rV[R]_n := \row_i (2%:R^-1 * (f 0 i - gamma ^+ 2 * ((f 0 i - xi 0 i) / beta))).
have wp i : 0 < w 0 i.
  rewrite mxE mulr_gt0 ?invr_gt0 // subr_gt0 mulrA ltr_pdivr_mulr // [ltRHS]mulrC -ltr_pdivr_mulr //.
  have -> : gamma ^+ 2 * (f 0 i - xi 0 i) / f 0 i = gamma ^+ 2 * (1 - xi 0 i / f 0 i).
    have fnz : f 0 i != 0 by rewrite gt_eqF.
    by by_scalars R.
  exact: window.
apply: lt_le_trans (sum_pos wp vnz) _.
have -> : \sum_i w 0 i * v i 0 ^+ 2
  = \sum_i \sum_j (f 0 i * v i 0 * (i == j)%:R * v j 0
      - f 0 i * P i j * (2%:R^-1 * (v i 0 ^+ 2 + gamma ^+ 2 * v j 0 ^+ 2))).
  have -> : \sum_i \sum_j (f 0 i * v i 0 * (i == j)%:R * v j 0
      - f 0 i * P i j * (2%:R^-1 * (v i 0 ^+ 2 + gamma ^+ 2 * v j 0 ^+ 2)))
    = \sum_i (f 0 i * v i 0 ^+ 2 - 2%:R^-1 * f 0 i * v i 0 ^+ 2)
      - \sum_i \sum_j f 0 i * P i j * (2%:R^-1 * gamma ^+ 2 * v j 0 ^+ 2).
    rewrite -sumrB; apply: eq_bigr => i _; rewrite sumrB.
    rewrite (bigD1 i) //= eqxx big1 => [|j /negbTE ne]; last by rewrite eq_sym ne mulr0 mul0r.
    rewrite addr0 mulr1 -mulrA -expr2 -addrA; congr (_ + _).
    rewrite (eq_bigr (fun j => P i j * (2%:R^-1 * f 0 i * v i 0 ^+ 2)
      + f 0 i * P i j * (2%:R^-1 * gamma ^+ 2 * v j 0 ^+ 2))) => [|j _]; last by by_scalars R.
    by rewrite big_split /= -mulr_suml P_rows mul1r opprD.
  rewrite exchange_big -sumrB; apply: eq_bigr => j _ /=.
  rewrite -mulr_suml at_ mxE.
  have half : 2%:R^-1 + 2%:R^-1 = 1 :> R.
    have nz2 : (2%:R : R) != 0 by rewrite gt_eqF.
    by by_scalars R.
  have bnz : beta != 0 by rewrite gt_eqF.
  have nz2 : (2%:R : R) != 0 by rewrite gt_eqF.
  by by_scalars R.
apply: ler_sum => i _; apply: ler_sum => j _.
have -> : f 0 i * v i 0 * ((i == j)%:R - G i j) * v j 0
  = f 0 i * v i 0 * (i == j)%:R * v j 0 - f 0 i * P i j * (g i j * v i 0 * v j 0).
  by rewrite [G i j]mxE; move: (i == j)%:R => e; by_scalars R.
rewrite ler_add2l ler_opp2 ler_wpmul2l ?mulr_ge0 // ?(ltW (fp i)) //.
case/andP: (g_range i j) => g0 g1.
apply: (@le_trans _ _ (2%:R^-1 * (v i 0 ^+ 2 + (g i j * v j 0) ^+ 2))).
  rewrite -subr_ge0.
  have -> : 2%:R^-1 * (v i 0 ^+ 2 + (g i j * v j 0) ^+ 2) - g i j * v i 0 * v j 0
    = 2%:R^-1 * (v i 0 - g i j * v j 0) ^+ 2.
    have nz2 : (2%:R : R) != 0 by rewrite gt_eqF.
    by by_scalars R.
  by rewrite mulr_ge0 ?invr_ge0 ?(ltW two) // sqr_ge0.
rewrite ler_wpmul2l ?invr_ge0 ?(ltW two) // ler_add2l exprMn ler_wpmul2r ?sqr_ge0 //.
by rewrite ler_pexpn2r // ?nnegrE // (le_trans g0).
Qed.
End Decay.
End Dissipation.
