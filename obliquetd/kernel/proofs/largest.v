(* Two sentences of the folklore, by where an eigenvector is largest. *)

(* Where the eigenvector is largest. An eigenvalue a + i b of A with the eigenvector x + i y is told by real vectors:
   A x = a x - b y and A y = a y + b x, with x and y not both zero. *)
Section Largest.
Variable R : realFieldType.
Add Field real_of_largest : (field_field R).
Let size n (u w : 'cV[R]_n) i := u i 0 ^+ 2 + w i 0 ^+ 2.

Lemma largest n (u w : 'cV[R]_n) : (u != 0) || (w != 0) ->
  exists i, 0 < size u w i /\ forall j, u i 0 * u j 0 + w i 0 * w j 0 <= size u w i.
Proof.
move=> some; have [i0 p0] : exists i, 0 < size u w i.
  case: (pickP (fun i => 0 < size u w i)) => [i p|none]; first by exists i.
  have zero i : u i 0 = 0 /\ w i 0 = 0.
    have small : size u w i <= 0 by rewrite leNgt none.
    have a := sqr_ge0 (u i 0); have b := sqr_ge0 (w i 0).
    have /eqP : size u w i = 0 by apply: le_anti; rewrite small addr_ge0.
    by rewrite /size paddr_eq0 // !sqrf_eq0 => /andP[/eqP -> /eqP ->].
  have all0 (z : 'cV[R]_n) : (forall i, z i 0 = 0) -> z = 0.
    by move=> z0; apply/matrixP => i j; rewrite ord1 mxE.
  have u0 : u = 0 by apply: all0 => i; case: (zero i).
  have w0 : w = 0 by apply: all0 => i; case: (zero i).
  by move: some; rewrite u0 w0 !eqxx.
pose i := [arg max_(i > i0) size u w i]%O; have top j : size u w j <= size u w i.
  by rewrite /i; case: arg_maxP => // k _ /(_ j isT).
exists i; split=> [|j]; first exact: lt_le_trans p0 (top i0).
have two : 0 < (2%:R : R) by rewrite ltr0n.
rewrite -(ler_pmul2l two); apply: (@le_trans _ _ (size u w i + size u w j)).
  rewrite -subr_ge0 /size.
  have -> : u i 0 ^+ 2 + w i 0 ^+ 2 + (u j 0 ^+ 2 + w j 0 ^+ 2) - 2%:R * (u i 0 * u j 0 + w i 0 * w j 0)
    = (u i 0 - u j 0) ^+ 2 + (w i 0 - w j 0) ^+ 2 by by_scalars R.
  by rewrite addr_ge0 ?sqr_ge0.
by rewrite mulrDl mul1r ler_add2l top.
Qed.

(* nothing positive beside the diagonal, and rows of a positive sum: Gershgorin's discs are on the right *)
Lemma dominated n (A : 'M[R]_n) (a b : R) (x y : 'cV[R]_n) :
  (forall i j, i != j -> A i j <= 0) -> (forall i, 0 < \sum_j A i j) ->
  A *m x = a *: x - b *: y -> A *m y = a *: y + b *: x -> (x != 0) || (y != 0) -> 0 < a.
Proof.
move=> off rows e1 e2 some; have [i [m0 top]] := largest some.
have r1 : \sum_j A i j * x j 0 = a * x i 0 - b * y i 0.
  by have := congr1 (fun v : 'cV_n => v i 0) e1; rewrite !mxE.
have r2 : \sum_j A i j * y j 0 = a * y i 0 + b * x i 0.
  by have := congr1 (fun v : 'cV_n => v i 0) e2; rewrite !mxE.
have both : \sum_j A i j * (x i 0 * x j 0 + y i 0 * y j 0) = a * size x y i.
  have -> : \sum_j A i j * (x i 0 * x j 0 + y i 0 * y j 0) = x i 0 * (\sum_j A i j * x j 0) + y i 0 * (\sum_j A i j * y j 0).
    by rewrite !mulr_sumr -big_split; apply: eq_bigr => j _ /=; by_scalars R.
  by rewrite r1 r2 /size; by_scalars R.
rewrite -(pmulr_lgt0 _ m0) -both; apply: (@lt_le_trans _ _ (\sum_j A i j * size x y i)).
  by rewrite -mulr_suml mulr_gt0.
apply: ler_sum => j _; case: (eqVneq j i) => [->|ne]; first by rewrite /size !expr2.
by rewrite ler_wnmul2l // off // eq_sym.
Qed.

Section Groups.
Variables (n d : nat) (group : 'I_n -> 'I_d) (xi : 'rV[R]_n) (G : 'M[R]_n) (gamma : R).
Hypothesis onto : forall g, exists s, group s = g.   (* no feature is 0 everywhere *)
Hypothesis positive : forall s, 0 < xi 0 s.
Hypothesis G_nonneg : forall s t, 0 <= G s t.
Hypothesis G_rows : forall s, \sum_t G s t <= gamma.
Hypothesis gamma_small : gamma < 1.
Let Phi : 'M[R]_(n, d) := \matrix_(s, g) (group s == g)%:R.
Let A := Phi^T *m diag_mx xi *m (1%:M - G) *m Phi.

Lemma groups_at g h : A g h = \sum_(s | group s == g) xi 0 s * ((group s == h)%:R - \sum_t G s t * (group t == h)%:R).
Proof.
have -> : A = Phi^T *m (diag_mx xi *m (Phi - G *m Phi)).
  by rewrite /A -!mulmxA mulmxBl mul1mx.
rewrite mxE [RHS]big_mkcond; apply: eq_bigr => s _; rewrite mul_diag_mx !mxE.
case: eqP => _; last by rewrite mul0r.
by rewrite mul1r; congr (_ * (_ - _)); apply: eq_bigr => t _; rewrite mxE.
Qed.

Theorem aggregation_stable (a b : R) (x y : 'cV[R]_d) :
  A *m x = a *: x - b *: y -> A *m y = a *: y + b *: x -> (x != 0) || (y != 0) -> 0 < a.
Proof.
apply: dominated => [g h ne|g].
  rewrite groups_at -oppr_ge0 -sumrN sumr_ge0 // => s /eqP gs; rewrite gs (negbTE ne) sub0r mulrN opprK.
  by rewrite mulr_ge0 ?(ltW (positive s)) // sumr_ge0 // => t _; rewrite mulr_ge0 ?ler0n.
rewrite (eq_bigr _ (fun h _ => groups_at g h)) exchange_big /=.
have one s : \sum_(h < d) (group s == h)%:R = 1 :> R.
  by rewrite (bigD1 (group s)) //= eqxx big1 ?addr0 // => h; rewrite eq_sym => /negbTE ->.
have each s : \sum_h xi 0 s * ((group s == h)%:R - \sum_t G s t * (group t == h)%:R) = xi 0 s * (1 - \sum_t G s t).
  rewrite -mulr_sumr sumrB one exchange_big; congr (_ * (_ - _)); apply: eq_bigr => t _.
  by rewrite -mulr_sumr one mulr1.
rewrite (eq_bigr _ (fun s _ => each s)); have [s0 gs] := onto g.
have pos s : 0 < xi 0 s * (1 - \sum_t G s t).
  by rewrite mulr_gt0 // subr_gt0; apply: le_lt_trans (G_rows s) gamma_small.
rewrite (bigD1 s0) ?gs //= ltr_paddr ?pos // sumr_ge0 // => s _; exact: ltW.
Qed.
End Groups.

(* G Phi = Phi M, and Phi'Xi Phi = c I *)
Theorem invariant_orthonormal_td_stable n d (Phi : 'M[R]_(n, d)) (Xi G : 'M[R]_n) (M : 'M[R]_d) (gamma c a b : R)
    (x y : 'cV[R]_d) :
  (forall i j, 0 <= G i j) -> (forall i, \sum_j G i j <= gamma) -> gamma < 1 ->
  G *m Phi = Phi *m M -> 0 < c -> Phi^T *m Xi *m Phi = c%:M ->
  let A := Phi^T *m Xi *m (1%:M - G) *m Phi in
  A *m x = a *: x - b *: y -> A *m y = a *: y + b *: x -> (x != 0) || (y != 0) -> 0 < a.
Proof.
move=> G0 rows small inv c0 gram A e1 e2 some.
have AM : A = c *: (1%:M - M).
  rewrite /A -mulmxA mulmxBl mul1mx inv -[X in _ *m (X - _)]mulmx1 -mulmxBr mulmxA gram.
  by rewrite mul_scalar_mx.
have inj z : Phi *m z = 0 -> z = 0.
  move=> zero; have : c%:M *m z = 0 by rewrite -gram -mulmxA zero mulmx0.
  by rewrite mul_scalar_mx => /eqP; rewrite scaler_eq0 gt_eqF // => /eqP.
pose u := Phi *m x; pose w := Phi *m y.
have at_ z : Phi *m (A *m z) = c *: (Phi *m z - G *m (Phi *m z)).
  by rewrite AM -scalemxAl -scalemxAr mulmxBl mul1mx mulmxBr !mulmxA inv.
have some2 : (u != 0) || (w != 0).
  by apply: contraTT some; rewrite !negb_or !negbK => /andP[/eqP/inj -> /eqP/inj ->]; rewrite eqxx.
have apart z : c *: (1%:M - G) *m z = c *: (z - G *m z) by rewrite -scalemxAl mulmxBl mul1mx.
apply: (@dominated n (c *: (1%:M - G)) a b u w) => // [i j ne|i||].
- by rewrite !mxE (negbTE ne) sub0r mulrN oppr_le0 mulr_ge0 // ltW.
- rewrite (eq_bigr (fun j => c * ((i == j)%:R - G i j))) => [|j _]; last by rewrite !mxE.
  rewrite -mulr_sumr sumrB (bigD1 i) //= eqxx big1 ?addr0 => [|j /negbTE ne]; last by rewrite eq_sym ne.
  by rewrite mulr_gt0 // subr_gt0; apply: le_lt_trans (rows i) small.
- by rewrite apart -at_ e1 mulmxBr -!scalemxAr.
by rewrite apart -at_ e2 mulmxDr -!scalemxAr.
Qed.
End Largest.
