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

(* The negative parts of f would add up to less than themselves. *)
Lemma f_nonneg i : 0 <= f 0 i.
Proof.
rewrite leNgt; apply/negP => neg.
pose N j := Num.max 0 (- f 0 j).
have N0 j : 0 <= N j by rewrite le_maxr lexx.
have Nf j : - f 0 j <= N j by rewrite le_maxr lexx orbT.
have step j : N j <= \sum_k N k * G k j.
  rewrite {1}/N le_maxl sumr_ge0 ?andTb => [|k _]; last by rewrite mulr_ge0.
  rewrite follow_on_at opprD -sumrN; apply: (@le_trans _ _ (\sum_k - (f 0 k * G k j))).
    by rewrite ger_addr oppr_le0 ltW.
  by rewrite ler_sum // => k _; rewrite -mulNr ler_wpmul2r.
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
End Dissipation.
