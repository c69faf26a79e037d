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

(* Two states: the eigenvalues of A = Phi'D Phi but zeros are those of Phi Phi'D, two by two, whose trace and
   determinant are not negative. *)
Section TwoStates.
Variable R : realFieldType.
Add Field real_of_two : (field_field R).

(* M (x + i y) = (a + i b)(x + i y), written out; z^2 - tr M z + det M = 0 *)
Lemma two_by_two (m00 m01 m10 m11 a b x0 x1 y0 y1 : R) :
  m00 * x0 + m01 * x1 = a * x0 - b * y0 -> m10 * x0 + m11 * x1 = a * x1 - b * y1 ->
  m00 * y0 + m01 * y1 = a * y0 + b * x0 -> m10 * y0 + m11 * y1 = a * y1 + b * x1 ->
  0 <= m00 + m11 -> 0 <= m00 * m11 - m01 * m10 ->
  ~ [/\ x0 = 0, x1 = 0, y0 = 0 & y1 = 0] -> 0 <= a.
Proof.
move=> e1 e2 e3 e4; set tau := m00 + m11; set delta := m00 * m11 - m01 * m10 => tr det some.
rewrite leNgt; apply/negP => neg.
pose p := a ^+ 2 - b ^+ 2 - tau * a + delta; pose q := 2%:R * a * b - tau * b.
have f1 : m00 * x0 + m01 * x1 - (a * x0 - b * y0) = 0 by rewrite e1 subrr.
have f2 : m10 * x0 + m11 * x1 - (a * x1 - b * y1) = 0 by rewrite e2 subrr.
have f3 : m00 * y0 + m01 * y1 - (a * y0 + b * x0) = 0 by rewrite e3 subrr.
have f4 : m10 * y0 + m11 * y1 - (a * y1 + b * x1) = 0 by rewrite e4 subrr.
have g1 : p * x0 - q * y0 = 0.
  have -> : p * x0 - q * y0 = - ((a - m11) * (m00 * x0 + m01 * x1 - (a * x0 - b * y0))
    - b * (m00 * y0 + m01 * y1 - (a * y0 + b * x0)) + m01 * (m10 * x0 + m11 * x1 - (a * x1 - b * y1))).
    by rewrite /p /q /tau /delta; by_scalars R.
  by rewrite f1 f2 f3 !mulr0 subr0 addr0 oppr0.
have g2 : p * y0 + q * x0 = 0.
  have -> : p * y0 + q * x0 = - ((a - m11) * (m00 * y0 + m01 * y1 - (a * y0 + b * x0))
    + b * (m00 * x0 + m01 * x1 - (a * x0 - b * y0)) + m01 * (m10 * y0 + m11 * y1 - (a * y1 + b * x1))).
    by rewrite /p /q /tau /delta; by_scalars R.
  by rewrite f1 f3 f4 !mulr0 !addr0 oppr0.
have g3 : p * x1 - q * y1 = 0.
  have -> : p * x1 - q * y1 = - ((a - m00) * (m10 * x0 + m11 * x1 - (a * x1 - b * y1))
    - b * (m10 * y0 + m11 * y1 - (a * y1 + b * x1)) + m10 * (m00 * x0 + m01 * x1 - (a * x0 - b * y0))).
    by rewrite /p /q /tau /delta; by_scalars R.
  by rewrite f1 f2 f4 !mulr0 subr0 addr0 oppr0.
have g4 : p * y1 + q * x1 = 0.
  have -> : p * y1 + q * x1 = - ((a - m00) * (m10 * y0 + m11 * y1 - (a * y1 + b * x1))
    + b * (m10 * x0 + m11 * x1 - (a * x1 - b * y1)) + m10 * (m00 * y0 + m01 * y1 - (a * y0 + b * x0))).
    by rewrite /p /q /tau /delta; by_scalars R.
  by rewrite f2 f3 f4 !mulr0 !addr0 oppr0.
have only x y : p * x - q * y = 0 -> p * y + q * x = 0 -> (p ^+ 2 + q ^+ 2) * x = 0 /\ (p ^+ 2 + q ^+ 2) * y = 0.
  move=> u w; split.
    have -> : (p ^+ 2 + q ^+ 2) * x = p * (p * x - q * y) + q * (p * y + q * x) by by_scalars R.
    by rewrite u w !mulr0 addr0.
  have -> : (p ^+ 2 + q ^+ 2) * y = p * (p * y + q * x) - q * (p * x - q * y) by by_scalars R.
  by rewrite u w !mulr0 subr0.
case: (eqVneq (p ^+ 2 + q ^+ 2) 0) => [zero|nz]; last first.
  have cancel x : (p ^+ 2 + q ^+ 2) * x = 0 -> x = 0.
    by move/eqP; rewrite mulf_eq0 (negbTE nz) => /eqP.
  by apply: some; have [? ?] := only _ _ g1 g2; have [? ?] := only _ _ g3 g4; split; exact: cancel.
have p0 : p = 0.
  apply/eqP; rewrite -sqrf_eq0 eq_le sqr_ge0 andbT -zero ler_addl; exact: sqr_ge0.
have q0 : q = 0.
  apply/eqP; rewrite -sqrf_eq0 eq_le sqr_ge0 andbT -zero ler_addr; exact: sqr_ge0.
have ta : tau * a <= 0 by rewrite mulr_ge0_le0 // ltW.
case: (eqVneq b 0) => [b0|bnz].
  have : 0 < p.
    rewrite /p b0 expr0n subr0 ltr_paddr // ltr_paddr ?oppr_ge0 //.
    by rewrite lt_def sqrf_eq0 sqr_ge0 lt_eqF.
  by rewrite p0 ltxx.
have : (2%:R * a - tau) * b = 0 by rewrite mulrBl -/q.
move/eqP; rewrite mulf_eq0 (negbTE bnz) orbF subr_eq0 => /eqP e.
by move: tr; rewrite -e leNgt pmulr_rlt0 ?ltr0n // neg.
Qed.

Lemma sum2 (F : 'I_2 -> R) : \sum_i F i = F 0 + F 1.
Proof. by rewrite big_ord_recl big_ord1; congr (_ + F _); apply: val_inj. Qed.

Lemma gram_det (I : finType) (f h : I -> R) :
  0 <= (\sum_k f k * f k) * (\sum_k h k * h k) - (\sum_k f k * h k) * (\sum_k h k * f k).
Proof.
set a := \sum_k f k * f k; set c := \sum_k h k * h k; set b := \sum_k f k * h k.
have -> : \sum_k h k * f k = b by apply: eq_bigr => k _; rewrite mulrC.
have c0 : 0 <= c by rewrite sumr_ge0 // => k _; rewrite -expr2 sqr_ge0.
have square : \sum_k (c * f k - b * h k) ^+ 2 = c * (a * c - b * b).
  have parabola p q : \sum_k (p * f k - q * h k) ^+ 2 = p ^+ 2 * a - 2%:R * p * q * b + q ^+ 2 * c.
    by rewrite /a /b /c !mulr_sumr -sumrB -big_split; apply: eq_bigr => k _ /=; by_scalars R.
  by rewrite parabola; by_scalars R.
case: (eqVneq c 0) => [zero|nz].
  have h0 k : h k = 0.
    have pos j : predT j -> 0 <= h j * h j by move=> _; rewrite -expr2 sqr_ge0.
    by apply/eqP; rewrite -sqrf_eq0 expr2 (psumr_eq0P pos zero).
  by rewrite zero mulr0 sub0r /b big1 ?mulr0 ?oppr0 // => k _; rewrite h0 mulr0.
have cp : 0 < c by rewrite lt_def nz.
by rewrite -(pmulr_rge0 _ cp) -square sumr_ge0 // => k _; rewrite sqr_ge0.
Qed.

(* s t: the state of a transition, s' t: the next one, g t: its discount, of weight xi pi P *)
Variables (T : finType) (d : nat) (Phi : 'M[R]_(2, d)) (weight g : T -> R) (s s' : T -> 'I_2).
Hypothesis weights : forall t, 0 <= weight t.
Hypothesis discounts : forall t, 0 <= g t <= 1.
Let phi t : 'cV[R]_d := (row (s t) Phi)^T.
Let Delta t : 'cV[R]_d := phi t - g t *: (row (s' t) Phi)^T.
Let product t := \sum_i Delta t i 0 * phi t i 0.
Let size t := \sum_i Delta t i 0 ^+ 2.
Let omega t := Num.max (product t) 0 / size t.
Let A : 'M[R]_d := \sum_t (weight t * omega t) *: (phi t *m (Delta t)^T).
Let e t : 'rV[R]_2 := delta_mx 0 (s t).
Let e' t : 'rV[R]_2 := e t - g t *: delta_mx 0 (s' t).
Let D : 'M[R]_2 := \sum_t (weight t * omega t) *: ((e t)^T *m e' t).

Lemma of_states : A = Phi^T *m D *m Phi.
Proof.
rewrite /A /D mulmx_sumr mulmx_suml; apply: eq_bigr => t _.
rewrite -scalemxAr -scalemxAl; congr (_ *: _).
have -> : phi t = (e t *m Phi)^T by rewrite /phi rowE.
have -> : Delta t = (e' t *m Phi)^T.
  by rewrite /Delta /e' mulmxBl -scalemxAl trD trN trZ /phi !rowE.
by rewrite trmxK trmx_mul !mulmxA.
Qed.

Lemma w_ge0 t : 0 <= weight t * omega t.
Proof.
rewrite mulr_ge0 // divr_ge0 ?sumr_ge0 // => [|i _]; last exact: sqr_ge0.
by rewrite le_maxr lexx orbT.
Qed.

Lemma D_at i j : D i j = \sum_t weight t * omega t * ((s t == i)%:R * ((s t == j)%:R - g t * (s' t == j)%:R)).
Proof.
rewrite /D summxE; apply: eq_bigr => t _; rewrite !mxE big_ord1 !mxE !eqxx /=.
by rewrite ![_ == s t]eq_sym ![_ == s' t]eq_sym.
Qed.

Lemma D_off i j : i != j -> D i j <= 0.
Proof.
move=> ne; rewrite D_at -oppr_ge0 -sumrN sumr_ge0 // => t _; rewrite oppr_ge0.
apply: mulr_ge0_le0; first exact: w_ge0.
case: eqP => [->|_]; last by rewrite mul0r.
rewrite (negbTE ne) mul1r sub0r oppr_le0 mulr_ge0 //; last exact: ler0n.
by case/andP: (discounts t).
Qed.

Lemma D_row i : 0 <= D i 0 + D i 1.
Proof.
have one (k : 'I_2) : (k == 0)%:R + (k == 1)%:R = 1 :> R.
  by case: k => [[|[|k]]] // lt; rewrite -!val_eqE /= ?addr0 ?add0r.
rewrite !D_at -big_split sumr_ge0 // => t _ /=; rewrite -mulrDr mulr_ge0 ?w_ge0 //.
rewrite -mulrDr mulr_ge0 ?ler0n // addrACA one -opprD -mulrDr one mulr1 subr_ge0.
by case/andP: (discounts t).
Qed.

Lemma D_det : 0 <= D 0 0 * D 1 1 - D 0 1 * D 1 0.
Proof.
have o1 : D 0 1 <= 0 by apply: D_off. have o2 : D 1 0 <= 0 by apply: D_off.
have r1 : - D 0 1 <= D 0 0 by rewrite -subr_ge0 opprK D_row.
have r2 : - D 1 0 <= D 1 1 by rewrite -subr_ge0 opprK addrC D_row.
by rewrite subr_ge0 -[D 0 1 * _]mulrNN ler_pmul ?oppr_ge0.
Qed.

(* an eigenvalue a + i b with the eigenvector x + i y *)
Theorem setd_two_states_never_unstable (a b : R) (x y : 'cV[R]_d) :
  A *m x = a *: x - b *: y -> A *m y = a *: y + b *: x -> (x != 0) || (y != 0) -> 0 <= a.
Proof.
move=> e1 e2 some; rewrite leNgt; apply/negP => neg.
pose K := Phi *m Phi^T; pose M := K *m D; pose u := Phi *m x; pose v := Phi *m y.
have through z : M *m (Phi *m z) = Phi *m (A *m z) by rewrite of_states /M /K !mulmxA.
have Mu : M *m u = a *: u - b *: v by rewrite through e1 mulmxBr -!scalemxAr.
have Mv : M *m v = a *: v + b *: u by rewrite through e2 mulmxDr -!scalemxAr.
have at_ (z : 'cV[R]_2) i : (M *m z) i 0 = M i 0 * z 0 0 + M i 1 * z 1 0 by rewrite mxE sum2.
have pair (z w : 'cV[R]_2) i k l : (k *: z - l *: w) i 0 = k * z i 0 - l * w i 0 by rewrite !mxE.
have pair2 (z w : 'cV[R]_2) i k l : (k *: z + l *: w) i 0 = k * z i 0 + l * w i 0 by rewrite !mxE.
have trace : 0 <= M 0 0 + M 1 1.
  have -> : M 0 0 + M 1 1 = \tr M by rewrite /mxtrace sum2.
  rewrite /M /K -mulmxA mxtrace_mulC -of_states.
  by case: (setd_trace_nonnegative phi Delta weights).
have K_det : 0 <= K 0 0 * K 1 1 - K 0 1 * K 1 0.
  have K_at i j : K i j = \sum_k Phi i k * Phi j k by rewrite mxE; apply: eq_bigr => k _; rewrite mxE.
  by rewrite !K_at gram_det.
have M_at i j : M i j = K i 0 * D 0 j + K i 1 * D 1 j by rewrite mxE sum2.
have det : 0 <= M 0 0 * M 1 1 - M 0 1 * M 1 0.
  rewrite !M_at; move: K_det D_det; move: (K 0 0) (K 0 1) (K 1 0) (K 1 1) (D 0 0) (D 0 1) (D 1 0) (D 1 1).
  move=> k0 k1 k2 k3 d0 d1 d2 d3 p q.
  have -> : (k0 * d0 + k1 * d2) * (k2 * d1 + k3 * d3) - (k0 * d1 + k1 * d3) * (k2 * d0 + k3 * d2)
    = (k0 * k3 - k1 * k2) * (d0 * d3 - d1 * d2) by by_scalars R.
  exact: mulr_ge0.
case: (eqVneq ((u == 0) && (v == 0)) true) => [/andP[/eqP u0 /eqP v0]|nz].
  have A0 z : Phi *m z = 0 -> A *m z = 0 by move=> z0; rewrite of_states -mulmxA z0 mulmx0.
  rewrite A0 // in e1; rewrite A0 // in e2.
  have both (z w : 'cV[R]_d) k : 0 = a *: z - k *: w -> 0 = a *: w + k *: z -> z = 0.
    move=> f1 f2; apply/eqP; have : (a ^+ 2 + k ^+ 2) *: z = 0.
      have -> : (a ^+ 2 + k ^+ 2) *: z = a *: (a *: z - k *: w) + k *: (a *: w + k *: z) by linear R.
      by rewrite -f1 -f2 !scaler0 addr0.
    move/eqP; rewrite scaler_eq0 => /orP[|//].
    by rewrite gt_eqF // ltr_paddr ?sqr_ge0 // lt_def sqrf_eq0 sqr_ge0 lt_eqF.
  move: some; rewrite (both _ _ _ e1 e2) eqxx /=.
  have f1 : 0 = a *: y - - b *: x by rewrite scaleNr opprK.
  have f2 : 0 = a *: x + - b *: y by rewrite scaleNr.
  by rewrite (both _ _ _ f1 f2) eqxx.
move: neg; rewrite ltNge; apply/negP; rewrite negbK.
apply: (@two_by_two (M 0 0) (M 0 1) (M 1 0) (M 1 1) a b (u 0 0) (u 1 0) (v 0 0) (v 1 0) _ _ _ _ trace det).
- by rewrite -at_ Mu pair.
- by rewrite -at_ Mu pair.
- by rewrite -at_ Mv pair2.
- by rewrite -at_ Mv pair2.
case=> x0 x1 y0 y1; have zero (z : 'cV[R]_2) : z 0 0 = 0 -> z 1 0 = 0 -> z = 0.
  move=> z0 z1; apply/matrixP => i j; rewrite ord1 mxE.
  by case: i => [[|[|i]]] // lt; [rewrite -[RHS]z0 | rewrite -[RHS]z1]; congr (z _ _); apply: val_inj.
by case/eqP: nz; rewrite (zero u) // (zero v) // !eqxx.
Qed.
End TwoStates.

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
