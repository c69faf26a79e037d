(* GTD2 and TDC. An eigenvalue a + i b of a real matrix M with eigenvector x + i y is told by real
   vectors: M x = a x - b y and M y = a y + b x, with x and y not both zero. *)

Section Gradient.
Variables (R : realFieldType) (d : nat).
Add Field real : (field_field R).
Implicit Types (u w s x y : 'cV[R]_d) (A B C : 'M[R]_d).

Definition dot x y : R := (x^T *m y) 0 0.
Lemma dotC x y : dot x y = dot y x.
Proof. by rewrite /dot -[in RHS](trmxK x) -trmx_mul [RHS]mxE. Qed.
Lemma dotD x y u : dot x (y + u) = dot x y + dot x u.
Proof. by rewrite /dot mulmxDr mxE. Qed.
Lemma dotZ x y k : dot x (k *: y) = k * dot x y.
Proof. by rewrite /dot -scalemxAr mxE. Qed.
Lemma dotN x y : dot x (- y) = - dot x y.
Proof. by rewrite /dot mulmxN mxE. Qed.
Lemma dot_transpose x y A : dot x (A *m y) = dot (A^T *m x) y.
Proof. by rewrite /dot trmx_mul trmxK mulmxA. Qed.
Lemma dot_ge0 x : 0 <= dot x x.
Proof. by rewrite /dot mxE sumr_ge0 // => i _; rewrite mxE -expr2 sqr_ge0. Qed.
Lemma dot_eq0 x : dot x x = 0 -> x = 0.
Proof.
rewrite /dot mxE => zero; apply/matrixP => i j; rewrite ord1 mxE.
have := @psumr_eq0P _ _ predT (fun k => x^T 0 k * x k 0).
move=> /(_ _ zero i isT) H; apply/eqP; rewrite -sqrf_eq0 expr2; apply/eqP.
by rewrite -[RHS]H ?mxE // => k _; rewrite mxE -expr2 sqr_ge0.
Qed.
Lemma dot_gt0 x : x != 0 -> 0 < dot x x.
Proof. by move=> nz; rewrite lt_def dot_ge0 andbT; apply: contra nz => /eqP/dot_eq0 ->. Qed.

(* z s = A'w and z w = B w - mu A s: the energy mu |s|^2 + |w|^2 grows at the rate of w*Bw. *)
Lemma energy A B mu a b s1 s2 w1 w2 :
  A \in unitmx -> 0 < mu -> (forall w, w != 0 -> 0 < dot w (B *m w)) ->
  A^T *m w1 = a *: s1 - b *: s2 -> A^T *m w2 = a *: s2 + b *: s1 ->
  B *m w1 - mu *: (A *m s1) = a *: w1 - b *: w2 ->
  B *m w2 - mu *: (A *m s2) = a *: w2 + b *: w1 ->
  ~ [/\ s1 = 0, s2 = 0, w1 = 0 & w2 = 0] -> 0 < a.
Proof.
move=> inv mu0 pos e1 e2 e3 e4 some.
have form w : 0 <= dot w (B *m w).
  by case: (eqVneq w 0) => [->|/pos/ltW //]; rewrite mulmx0 /dot mulmx0 mxE.
have id : a * (mu * (dot s1 s1 + dot s2 s2) + (dot w1 w1 + dot w2 w2))
  = dot w1 (B *m w1) + dot w2 (B *m w2).
  have f1 : dot s1 (A^T *m w1) = a * dot s1 s1 - b * dot s1 s2 by rewrite e1 dotD dotN !dotZ.
  have f2 : dot s2 (A^T *m w2) = a * dot s2 s2 + b * dot s1 s2.
    by rewrite e2 dotD !dotZ (dotC s2 s1).
  have f3 : dot w1 (B *m w1) - mu * dot s1 (A^T *m w1) = a * dot w1 w1 - b * dot w1 w2.
    by rewrite (dot_transpose s1) trmxK (dotC _ w1) -[mu * _]dotZ -dotN -dotD e3 dotD dotN !dotZ.
  have f4 : dot w2 (B *m w2) - mu * dot s2 (A^T *m w2) = a * dot w2 w2 + b * dot w1 w2.
    by rewrite (dot_transpose s2) trmxK (dotC _ w2) -[mu * _]dotZ -dotN -dotD e4 dotD !dotZ (dotC w2 w1).
  have g1 : dot w1 (B *m w1) = a * dot w1 w1 - b * dot w1 w2 + mu * dot s1 (A^T *m w1).
    by rewrite -f3 subrK.
  have g2 : dot w2 (B *m w2) = a * dot w2 w2 + b * dot w1 w2 + mu * dot s2 (A^T *m w2).
    by rewrite -f4 subrK.
  by rewrite g1 g2 f1 f2; by_scalars R.
have w_some : (w1 != 0) || (w2 != 0).
  rewrite -negb_and; apply/negP => /andP[/eqP w10 /eqP w20]; apply: some.
  have zero s : mu *: (A *m s) = 0 -> s = 0.
    move=> /eqP; rewrite scaler_eq0 gt_eqF //= => /eqP z.
    by rewrite -[s](mulKmx inv) z mulmx0.
  split=> //; apply: zero; apply: oppr_inj; rewrite oppr0.
  - by move: e3; rewrite w10 w20 mulmx0 !scaler0 subr0 add0r.
  - by move: e4; rewrite w10 w20 mulmx0 !scaler0 addr0 add0r.
have right : 0 < dot w1 (B *m w1) + dot w2 (B *m w2).
  by case/orP: w_some => /pos p; [rewrite ltr_paddr | rewrite ltr_paddl].
rewrite -id in right.
have size : 0 <= mu * (dot s1 s1 + dot s2 s2) + (dot w1 w1 + dot w2 w2).
  by rewrite addr_ge0 ?addr_ge0 ?mulr_ge0 ?addr_ge0 ?dot_ge0 // ltW.
by rewrite ltNge; apply/negP => neg; move: right; rewrite ltNge mulr_le0_ge0.
Qed.

(* The mean matrix of GTD2 on (theta, w): [0, -A'; mu A, mu C]. *)
Theorem gtd2_off_policy_stable A C mu a b u1 u2 w1 w2 :
  A \in unitmx -> 0 < mu -> (forall w, w != 0 -> 0 < dot w (C *m w)) ->
  let M := block_mx 0 (- A^T) (mu *: A) (mu *: C) in
  let x := col_mx u1 w1 in let y := col_mx u2 w2 in
  M *m x = a *: x - b *: y -> M *m y = a *: y + b *: x -> (x != 0) || (y != 0) -> 0 < a.
Proof.
move=> inv mu0 pos M x y; rewrite /M /x /y !mul_block_col !scale_col_mx opp_col_mx !add_col_mx.
move=> /eq_col_mx [e1 e3] /eq_col_mx [e2 e4] some.
rewrite !mul0mx !add0r !mulNmx in e1 e2.
apply: (@energy A (mu *: C) mu a b (- u1) (- u2) w1 w2) => //.
- by move=> w /pos p; rewrite -scalemxAl dotZ mulr_gt0.
- by rewrite -[LHS]opprK e1 opprB !scalerN opprK addrC.
- by rewrite -[LHS]opprK e2 opprD !scalerN.
- by rewrite mulmxN scalerN opprK addrC -e3 scalemxAl.
- by rewrite mulmxN scalerN opprK addrC -e4 scalemxAl.
case=> /eqP; rewrite oppr_eq0 => /eqP u10 /eqP; rewrite oppr_eq0 => /eqP u20 w10 w20.
by move: some; rewrite u10 u20 w10 w20 !col_mx0 eqxx.
Qed.

(* That of TDC: [A, C - A'; mu A, mu C], where mu C + (A + A')/2 is positive definite. *)
Theorem tdc_stable_for_large_mu A C mu a b u1 u2 w1 w2 :
  A \in unitmx -> 0 < mu -> (forall w, w != 0 -> 0 < dot w ((mu *: C + 2%:R^-1 *: (A + A^T)) *m w)) ->
  let M := block_mx A (C - A^T) (mu *: A) (mu *: C) in
  let x := col_mx u1 w1 in let y := col_mx u2 w2 in
  M *m x = a *: x - b *: y -> M *m y = a *: y + b *: x -> (x != 0) || (y != 0) -> 0 < a.
Proof.
move=> inv mu0 pos M x y; rewrite /M /x /y !mul_block_col !scale_col_mx opp_col_mx !add_col_mx.
move=> /eq_col_mx [e1 e3] /eq_col_mx [e2 e4] some.
have two : (2%:R : R) != 0 by rewrite pnatr_eq0.
have nz : mu != 0 by rewrite gt_eqF.
pose s1 := mu^-1 *: w1 - u1; pose s2 := mu^-1 *: w2 - u2.
have part u w v : A *m u + (C - A^T) *m w = v -> A^T *m w = A *m u + C *m w - v.
  by move=> <-; rewrite mulmxBl; linear R.
have half w u v : mu *: A *m u + mu *: C *m w = v -> A *m u + C *m w = mu^-1 *: v.
  by move=> <-; rewrite -!scalemxAl scalerDr !scalerA mulVf // !scale1r.
apply: (@energy A (A + mu *: C) mu a b s1 s2 w1 w2) => //.
- move=> w /pos; rewrite !mulmxDl -!scalemxAl mulmxDl !dotD !dotZ dotD (dot_transpose w w A^T) trmxK.
  rewrite (dotC (A *m w)) => p; apply: lt_le_trans p _; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by by_scalars R.
- by rewrite (part _ _ _ e1) (half _ _ _ e3) /s1 /s2; linear R.
- by rewrite (part _ _ _ e2) (half _ _ _ e4) /s1 /s2; linear R.
- have := e3; rewrite -!scalemxAl => <-; rewrite /s1 mulmxBr mulmxDl -!scalemxAl -!scalemxAr.
  by linear R.
- have := e4; rewrite -!scalemxAl => <-; rewrite /s2 mulmxBr mulmxDl -!scalemxAl -!scalemxAr.
  by linear R.
case=> s10 s20 w10 w20; move: some s10 s20; rewrite /s1 /s2 w10 w20 !scaler0 !add0r.
move=> some /eqP; rewrite oppr_eq0 => /eqP u10 /eqP; rewrite oppr_eq0 => /eqP u20.
by move: some; rewrite u10 u20 !col_mx0 eqxx.
Qed.
End Gradient.
