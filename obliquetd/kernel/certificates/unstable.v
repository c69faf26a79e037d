(* Unstable: Q'K + KQ + 2eK is positive definite, and K is negative somewhere (Chetaev). *)
Section Unstable.
Variable R : realFieldType.
Add Field unstable : (field_field R).

(* What a positive definite G bounds: by Cauchy and Schwarz, every form. *)
Section Bounds.
Variables (n : nat) (G : 'M[R]_n).
Hypothesis pos : positive G.
Lemma schwarz x y : form G x y ^+ 2 <= form G x x * form G y y.
Proof.
case: (eqVneq y 0) => [->|nz].
  by rewrite /form !mulmx0 mxE expr0n mulr0.
have yy := pos.2 _ nz; rewrite -(ler_pmul2l yy) -subr_ge0.
have := positive_ge0 (form G y y *: x - form G x y *: y) pos.
rewrite !(formDl, formDr, formNl, formNr, formZl, formZr) (formC y x pos.1).
by congr (0 <= _); by_scalars R.
Qed.

Lemma unit_positive : G \in unitmx.
Proof.
rewrite -row_free_unit -kermx_eq0; apply/eqP/row_matrixP => i; rewrite row0.
have : row i (kermx G) *m G = 0 by rewrite -row_mul mulmx_ker row0.
move: (row i _) => u zero; apply/eqP; rewrite -trmx_eq0; apply/negPn/negP => /pos.2.
by rewrite /form trmxK zero mul0mx mxE ltxx.
Qed.

Lemma coordinate (x : 'cV[R]_n) i : x i 0 ^+ 2 <= form G (invmx G *m delta_mx i 0) (invmx G *m delta_mx i 0) * form G x x.
Proof.
have -> : x i 0 = form G (invmx G *m delta_mx i 0) x; last exact: schwarz.
rewrite formC ?pos.1 // /form -mulmxA mulKVmx ?unit_positive //.
by rewrite -colE !mxE.
Qed.

Lemma bounded (F : 'M[R]_n) : exists2 c, 0 <= c & forall x, `|form F x x| <= c * form G x x.
Proof.
pose g i := form G (invmx G *m delta_mx i 0) (invmx G *m delta_mx i 0).
exists (\sum_i \sum_j `|F i j| * (g i + g j)).
  by rewrite sumr_ge0 // => i _; rewrite sumr_ge0 // => j _; rewrite mulr_ge0 // addr_ge0 // positive_ge0.
move=> x; rewrite form_sum; apply: le_trans (ler_norm_sum _ _ _) _.
rewrite mulr_suml; apply: ler_sum => i _; apply: le_trans (ler_norm_sum _ _ _) _.
rewrite mulr_suml; apply: ler_sum => j _.
have -> : `|x i 0 * F i j * x j 0| = `|F i j| * `|x i 0 * x j 0| by rewrite -normrM; congr `|_|; by_scalars R.
rewrite -mulrA ler_wpmul2l // mulrDl.
apply: le_trans (ler_add (coordinate x i) (coordinate x j)).
have := sqr_ge0 (x i 0 + x j 0); have := sqr_ge0 (x i 0 - x j 0).
have := sqr_ge0 (x i 0); have := sqr_ge0 (x j 0).
move: (x i 0) (x j 0) => p q q0 p0; rewrite sqrrB sqrrD => minus plus.
rewrite ler_norml; apply/andP; split.
  rewrite -subr_ge0 opprK -(@pmulr_rge0 _ 2%:R) ?ltr0n //.
  have -> : 2%:R * (p * q + (p ^+ 2 + q ^+ 2)) = (p ^+ 2 + p * q *+ 2 + q ^+ 2) + (p ^+ 2 + q ^+ 2) by by_scalars R.
  by rewrite addr_ge0 // addr_ge0.
rewrite -subr_ge0 -(@pmulr_rge0 _ 2%:R) ?ltr0n //.
have -> : 2%:R * ((p ^+ 2 + q ^+ 2) - p * q) = (p ^+ 2 - p * q *+ 2 + q ^+ 2) + (p ^+ 2 + q ^+ 2) by by_scalars R.
by rewrite addr_ge0 // addr_ge0.
Qed.
End Bounds.

(* Where K + tG >= 0, a step x - hPx along P = Q + e shows that K + (t - c)G >= 0. *)
Lemma lower n (Q K G : 'M[R]_n) e :
  0 <= e -> K^T = K -> positive (fall Q K + (e + e) *: K) -> positive G ->
  (forall x, 0 <= form (fall Q G) x x) ->
  exists c top, [/\ 0 < c, forall x, 0 <= form K x x + top * form G x x
    & forall t, 0 <= t -> t <= top -> (forall x, 0 <= form K x x + t * form G x x) ->
      forall x, 0 <= form K x x + (t - c) * form G x x].
Proof.
move=> e0 symK; set S := fall Q K + _ => posS posG rises.
pose P := Q + e%:M.
have P_mul (x : 'cV[R]_n) : P *m x = Q *m x + e *: x by rewrite mulmxDl mul_scalar_mx.
have S_at x : form S x x = form K (P *m x) x + form K x (P *m x).
  rewrite /S form_mxD form_mxZ form_fall P_mul formDl formDr formZl formZr; by_scalars R.
have G_at x : 0 <= form G (P *m x) x + form G x (P *m x).
  rewrite P_mul formDl formDr formZl formZr addrACA -form_fall addr_ge0 // addr_ge0 //;
  by rewrite mulr_ge0 // positive_ge0.
have [m1 m1_0 low] := bounded posS G.
have [m2 m2_0 K_P] := bounded posG (P^T *m K *m P).
have [m3 m3_0 G_P] := bounded posG (P^T *m G *m P).
have [top top0 K_low] := bounded posG K.
pose delta : R := (m1 + 1)^-1.
have delta0 : 0 < delta by rewrite invr_gt0 ltr_paddl.
have S_low x : delta * form G x x <= form S x x.
  rewrite mulrC ler_pdivr_mulr ?ltr_paddl // mulrC mulrDl mul1r.
  apply: le_trans (ler_norm _) _; apply: le_trans (low x) _.
  by rewrite ler_addl positive_ge0.
pose big : R := m2 + top * m3 + 1.
have big0 : 0 < big by rewrite ltr_paddl // addr_ge0 // mulr_ge0.
pose h : R := delta / (2%:R * big).
have h0 : 0 < h by rewrite divr_gt0 // mulr_gt0 // ltr0n.
have delta_h : delta = 2%:R * big * h by rewrite mulrC divfK // mulf_neq0 ?pnatr_eq0 // lt0r_neq0.
exists (h * h * big), top; split; first by do 2?[apply: mulr_gt0 => //].
  by move=> x; rewrite -ler_subl_addr sub0r; have := K_low x; rewrite ler_norml => /andP[].
move=> t t0 t_top up x; have := up (x - h *: (P *m x)).
rewrite !(formDl, formDr, formNl, formNr, formZl, formZr).
have g0 : 0 <= form G x x by apply: positive_ge0.
have kp_le : form K (P *m x) (P *m x) <= m2 * form G x x.
  by apply: le_trans (ler_norm _) _; rewrite form_mul.
have gp_le : form G (P *m x) (P *m x) <= m3 * form G x x.
  by apply: le_trans (ler_norm _) _; rewrite form_mul.
have := S_at x; have := G_at x; have := S_low x.
move: (form S x x) (form K (P *m x) x) (form K x (P *m x)) (form G (P *m x) x) (form G x (P *m x)) => s k1 k2 g1 g2.
move: (form K x x) (form G x x) (form K (P *m x) (P *m x)) (form G (P *m x) (P *m x)) g0 kp_le gp_le => k g kp gp g0 kp_le gp_le.
rewrite -subr_ge0 => s_low g12 s_is start.
have rest : 0 <= (m2 * g - kp) + t * (m3 * g - gp) + (top - t) * (m3 * g) + g.
  do 3?[apply: addr_ge0 => //]; rewrite ?subr_ge0 //; by do 2?[apply: mulr_ge0; rewrite ?subr_ge0 //].
have sum := addr_ge0 (addr_ge0 (addr_ge0 start (mulr_ge0 (ltW h0) s_low))
  (mulr_ge0 (mulr_ge0 (ltW h0) t0) g12)) (mulr_ge0 (mulr_ge0 (ltW h0) (ltW h0)) rest).
move: sum; congr (0 <= _); rewrite delta_h s_is /big; by_scalars R.
Qed.
End Unstable.

(* In an archimedean field, such as the rational or the real numbers, enough steps leave K >= 0. *)
Theorem unstable_by (R : archiFieldType) n (Q K G : 'M[R]_n) e v :
  0 <= e -> K^T = K -> positive (fall Q K + (e + e) *: K) -> form K v v < 0 ->
  positive G -> ~ (forall x, 0 <= form (fall Q G) x x).
Proof.
move=> e0 symK posS neg posG rises.
have [c [top [c0 start step]]] := lower e0 symK posS posG rises.
have down k : forall t, t <= top -> t <= c *+ k -> (forall x, 0 <= form K x x + t * form G x x) -> False.
  elim: k => [|k IH] t t_top t_small up.
    have := up v; rewrite leNgt => /negP; apply.
    by rewrite -oppr_gt0 opprD -mulNr ltr_paddr ?oppr_gt0 // mulr_ge0 ?oppr_ge0 // positive_ge0.
  case: (lerP 0 t) => [t0|lt]; last first.
    by apply: (IH t) => //; apply: ltW; apply: lt_le_trans lt _; rewrite mulrn_wge0 // ltW.
  apply: (IH (t - c)); last exact: step.
    by rewrite ler_subl_addr ler_paddr // ltW.
  by rewrite ler_subl_addr -mulrSr.
case: (lerP 0 top) => [top0|lt]; last by apply: (down 0%N top) => //; rewrite ltW.
apply: (down (Num.bound (top / c)) top) => //.
rewrite -mulr_natl -ler_pdivr_mulr //; apply: ltW; apply: archi_boundP.
by rewrite divr_ge0 // ltW.
Qed.

(* Unstable: Q'K + KQ + 2(e/f)K, with Q = table / a, is a table over a f. *)
Definition unstable_check (d n : nat) (A : table) (a : Z) (B : table) (b : Z) (Q C K : table) (e f : Z) (v W : table) : bool :=
  [&& (0 <? a)%Z, (0 <? b)%Z, restricts d n A B Q C, (0 <=? e)%Z & (0 <? f)%Z] &&
  [&& shape n n K, K == turn n K, definite n (mix n f (falls n Q K) (2 * a * e)%Z K) W, shape 1%N n v &
   (entry (times v (times v K)) 0%N 0%N <? 0)%Z].

Theorem unstable_sound (R : archiFieldType) (d n : nat) A a B b Q C K e f v W : unstable_check d n A a B b Q C K e f v W ->
  let A := fractions R d d A a in let B := fractions R d n B b in let Q := fractions R n n Q a in
  [/\ restriction A B Q,
      forall G, positive G -> ~ (forall x, 0 <= form (fall Q G) x x)
    & forall G, positive G -> ~ (forall x, 0 <= form (fall A G) x x)].
Proof.
case/andP => /and5P[a0 b0 res e0 f0] /and5P[sK /eqP sym def sv neg].
have restr := restricts_restriction R a0 b0 res; have [AB inj] := restr.
have sQ : shape n n Q by case/and5P: res.
have symK : (whole R n n K)^T = whole R n n K by rewrite -(whole_turn R sK) -sym.
have a_pos := number_gt0 R a0; have f_pos := number_gt0 R f0.
have a_nz := lt0r_neq0 a_pos; have f_nz := lt0r_neq0 f_pos.
have rate : 0 <= number R e / number R f.
  by rewrite divr_ge0 ?(ltW f_pos) //; case: (e) e0 => //= p _; rewrite ler0n.
have none G : positive G -> ~ (forall x, 0 <= form (fall (fractions R n n Q a) G) x x).
  apply: (unstable_by (e := number R e / number R f) (v := (whole R 1%N n v)^T) rate symK).
    apply: (positive_scaled (c := number R a * number R f)); first by rewrite mulr_gt0.
    have := definite_positive R def; rewrite whole_mix (whole_falls sQ sK symK); congr positive.
    rewrite fractions_whole fall_scaled [RHS]scalerDr !scalerA; congr (_ *: _ + _ *: _).
      by rewrite mulrAC divff // mul1r.
    have -> : number R a * number R f * (number R e / number R f + number R e / number R f)
      = number R a * number R e + number R a * number R e.
      by rewrite mulrDr mulrA [number R a * _ * _]mulrAC mulfK.
    by rewrite !numberM (_ : number R 2 = 1 + 1) ?mulrDl ?mul1r // -(natrD _ 1 1).
  have := number_lt R neg; rewrite /= /form trmxK; congr (_ < 0).
  have sN := shape_times sv sK.
  have := whole_times R sv sN; rewrite (whole_times R sv sK) trmx_mul trmxK mulmxA => <-.
  by rewrite mxE.
split=> // G posG rises.
apply: (none ((fractions R d n B b)^T *m G *m fractions R d n B b)).
  split; first by rewrite !trmx_mul trmxK posG.1 mulmxA.
  move=> x nz; rewrite -form_mul; apply: posG.2; by apply: contra nz => /eqP/inj ->.
move=> x; have := rises (fractions R d n B b *m x).
by rewrite !form_fall !mulmxA AB -!form_mul -!mulmxA.
Qed.
