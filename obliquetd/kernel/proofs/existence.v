(* Statements about the projections and the fixed points that need more than rewriting. *)

Section Field.
Variable F : fieldType.
Add Field scalars_of_F : (field_field F).
Variables n d : nat.
Implicit Types (Phi X Y : 'M[F]_(n, d)) (L Xi : 'M[F]_n).

(* One column space, written for the rows of the transposes. *)
Theorem projection_orthogonal Phi X : X^T *m Phi \in unitmx ->
  let Pi := Phi *m invmx (X^T *m Phi) *m X^T in
  (Pi^T = Pi) <-> (X^T :=: Phi^T)%MS.
Proof.
move=> inv Pi; split=> [sym|same].
  have XPi : X^T *m Pi = X^T by rewrite /Pi !mulmxA mulmxV // mul1mx.
  have sub : (X^T <= Phi^T)%MS.
    rewrite -XPi -sym; apply/submxP; exists (X^T *m (X *m (invmx (X^T *m Phi))^T)).
    by rewrite /Pi !trmx_mul trmxK !mulmxA.
  have full M N : M *m N \in @unitmx F d -> \rank (M : 'M_(d, n)) = d.
    rewrite -row_full_unit => /eqP r; apply/eqP; rewrite eqn_leq rank_leq_row /=.
    by rewrite -[X in (X <= _)%N]r mxrankM_maxl.
  apply/eqmxP; rewrite sub /=.
  have r1 := full _ _ inv.
  have inv2 : Phi^T *m X \in unitmx by rewrite -unitmx_tr trmx_mul trmxK.
  have r2 := full _ _ inv2.
  by have [_] := mxrank_leqif_sup sub; rewrite r1 r2 eqxx => <-.
have /submxP [M XM] : (X^T <= Phi^T)%MS by rewrite same.
have e : X^T *m Phi = M *m (Phi^T *m Phi) by rewrite XM !mulmxA.
have invMC : M *m (Phi^T *m Phi) \in unitmx by rewrite -e.
move: (invMC); rewrite unitmx_mul => /andP[invM invC].
have -> : Pi = Phi *m invmx (Phi^T *m Phi) *m Phi^T.
  rewrite /Pi -[LHS]mulmxA -[RHS]mulmxA; congr (_ *m _).
  by rewrite -[RHS](mulKmx inv); congr (_ *m _); rewrite e -[RHS]mulmxA mulKVmx.
by rewrite !trmx_mul trmxK trmx_inv trmx_mul trmxK mulmxA.
Qed.

(* With X* = L^-T Xi Phi and r = L V: the only fixed point is Pi V. *)
Theorem lemma_1_the_solution Phi L Xi (V : 'cV[F]_n) (theta : 'cV[F]_d) :
  L \in unitmx -> Phi^T *m Xi *m Phi \in unitmx -> Xi^T = Xi ->
  let X := (invmx L)^T *m Xi *m Phi in
  X^T *m Phi \in unitmx ->
  Phi *m theta = Phi *m invmx (X^T *m Phi) *m X^T *m (L *m V + Phi *m theta - L *m (Phi *m theta)) ->
  Phi *m theta = Phi *m invmx (Phi^T *m Xi *m Phi) *m Phi^T *m Xi *m V.
Proof.
move=> invL invC sym X inv fixed.
have XL : X^T *m L = Phi^T *m Xi by rewrite /X !trmx_mul trmxK sym -!mulmxA mulVmx // mulmx1.
have := congr1 (mulmx X^T) fixed; rewrite !mulmxA mulmxV // mul1mx mulmxBr mulmxDr !mulmxA XL.
move=> e.
have {}e : Phi^T *m Xi *m Phi *m theta = Phi^T *m Xi *m V.
  by apply: (@use_step _ _ _ 1 _ _ _ _ e); linear F.
set K := invmx _; have -> : Phi *m K *m Phi^T *m Xi *m V = Phi *m (K *m (Phi^T *m Xi *m V)).
  by rewrite !mulmxA.
by rewrite -e mulKmx.
Qed.

(* Y'Xi L Phi = C and a Phi of full row rank leave one Y. *)
Theorem proposition_1 Phi L Xi Y :
  row_free Phi -> L \in unitmx -> Xi \in unitmx -> Xi^T = Xi ->
  Y^T *m Xi *m L *m Phi = Phi^T *m Xi *m Phi ->
  Y = invmx Xi *m (invmx L)^T *m Xi *m Phi.
Proof.
move=> /row_freeP [B PhiB] invL invXi sym e.
have {}e : Y^T *m Xi *m L = Phi^T *m Xi.
  by rewrite -[LHS]mulmx1 -PhiB mulmxA e -mulmxA PhiB mulmx1.
have {}e : L^T *m (Xi *m Y) = Xi *m Phi.
  by apply: trmx_inj; rewrite !trmx_mul trmxK sym.
have invLT : L^T \in unitmx by rewrite unitmx_tr.
by rewrite -!mulmxA -e trmx_inv mulKmx // mulKmx.
Qed.

(* Lambda = Phi - gamma P Phi, for one discount gamma; the squared Frobenius norms. *)
Theorem td_identity Phi Xi (P : 'M[F]_n) (gamma : F) :
  let Lambda := Phi - gamma *: (P *m Phi) in
  \sum_i \sum_j (Lambda^T *m Xi *m Phi - Phi^T *m Xi *m Phi) i j ^+ 2
  = \sum_i \sum_j ((gamma *: (P *m Phi))^T *m Xi *m Phi) i j ^+ 2.
Proof.
move=> Lambda; apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite -sqrrN; congr (_ ^+ 2).
rewrite /Lambda; have -> : (Phi - gamma *: (P *m Phi))^T *m Xi *m Phi - Phi^T *m Xi *m Phi
  = - ((gamma *: (P *m Phi))^T *m Xi *m Phi).
  by expand; linear F.
by rewrite mxE opprK.
Qed.
End Field.

Section Bellman.
Variables (R : realFieldType) (n : nat).

Lemma injective_unit (A : 'M[R]_n) : (forall v : 'cV_n, A *m v = 0 -> v = 0) -> A \in unitmx.
Proof.
move=> inj; rewrite -unitmx_tr -row_free_unit -kermx_eq0; apply/eqP/row_matrixP => i; rewrite row0.
apply: trmx_inj; rewrite trmx0; apply: inj; apply: trmx_inj.
by rewrite trmx_mul trmxK trmx0 -row_mul mulmx_ker row0.
Qed.

(* P: probabilities; g: the discount of each transition, at most gamma < 1 *)
Theorem bellman_equation (P g : 'M[R]_n) (gamma : R) (r : 'cV[R]_n) :
  (forall i j, 0 <= P i j) -> (forall i, \sum_j P i j = 1) ->
  (forall i j, 0 <= g i j <= gamma) -> gamma < 1 ->
  let G : 'M[R]_n := \matrix_(i, j) (P i j * g i j) in
  1%:M - G \in unitmx /\ forall v, v = r + G *m v <-> v = invmx (1%:M - G) *m r.
Proof.
move=> nonneg rows range small G.
have inv : 1%:M - G \in unitmx.
  apply: injective_unit => v; rewrite mulmxBl mul1mx => /eqP; rewrite subr_eq0 => /eqP fixed.
  case: (pickP (fun i => v i 0 != 0)) => [i0 _|none]; last first.
    by apply/matrixP => i j; rewrite ord1 mxE; apply/eqP; move: (none i) => /negbFE.
  pose i := [arg max_(i > i0) `|v i 0|]%O.
  have top j : `|v j 0| <= `|v i 0|.
    by rewrite /i; case: arg_maxP => // k _ /(_ j isT).
  have bound : `|v i 0| <= gamma * `|v i 0|.
    rewrite {1}fixed mxE; apply: le_trans (ler_norm_sum _ _ _) _.
    have -> : gamma * `|v i 0| = \sum_j P i j * (gamma * `|v i 0|) by rewrite -mulr_suml rows mul1r.
    apply: ler_sum => j _; rewrite mxE !normrM (ger0_norm (nonneg i j)) -mulrA ler_wpmul2l //.
    by case/andP: (range i j) => g0 g1; rewrite (ger0_norm g0) ler_pmul.
  have zero : `|v i 0| = 0.
    apply: le_anti; rewrite normr_ge0 andbT; have pos : 0 < 1 - gamma by rewrite subr_gt0.
    by rewrite -(pmulr_rle0 _ pos) mulrBl mul1r subr_le0.
  apply/matrixP => j k; rewrite ord1 mxE; apply/eqP; rewrite -normr_le0.
  by rewrite -zero top.
split=> // v; split=> [e|->].
  by rewrite -[LHS](mulKmx inv) mulmxBl mul1mx {1}e addrK.
have e : (1%:M - G) *m (invmx (1%:M - G) *m r) = r by rewrite mulKVmx.
by rewrite -{2}e mulmxBl mul1mx subrK.
Qed.
End Bellman.
