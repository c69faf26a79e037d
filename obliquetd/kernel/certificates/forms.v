From Coq Require Import ZArith Lia.
Import GRing.Theory Num.Theory Order.TTheory.
Delimit Scope nat_scope with N.

(* Certificates of stability: what is said of a matrix, over any ordered field, and what proves it.
   A certificate's own file stands below this head: its numbers, what is said of them, and one computation. *)

Section Numbers.
Variable R : realFieldType.
Definition number (z : Z) : R := match z with
  Z0 => 0 | Zpos p => (Pos.to_nat p)%:R | Zneg p => - (Pos.to_nat p)%:R end.

Lemma numberN z : number (- z)%Z = - number z.
Proof. by case: z => [|p|p] /=; rewrite ?oppr0 ?opprK. Qed.

Lemma number_sub p q : number (Z.pos_sub p q) = (Pos.to_nat p)%:R - (Pos.to_nat q)%:R.
Proof.
rewrite Z.pos_sub_spec; case: Pos.compare_spec => [->|lt|gt] /=; first by rewrite subrr.
- rewrite Pos2Nat.inj_sub // natrB ?opprB //; apply/ssrnat.leP; lia.
- rewrite Pos2Nat.inj_sub // natrB //; apply/ssrnat.leP; lia.
Qed.

Lemma numberD y z : number (y + z)%Z = number y + number z.
Proof.
case: y z => [|p|p] [|q|q]; rewrite ?add0r ?addr0 //=.
- by rewrite Pos2Nat.inj_add natrD.
- exact: number_sub.
- by rewrite number_sub addrC.
- by rewrite Pos2Nat.inj_add natrD opprD.
Qed.

Lemma numberM y z : number (y * z)%Z = number y * number z.
Proof.
by case: y z => [|p|p] [|q|q]; rewrite ?mul0r ?mulr0 //= Pos2Nat.inj_mul natrM ?mulrNN ?mulrN ?mulNr.
Qed.

Lemma number_gt0 z : (0 <? z)%Z -> 0 < number z.
Proof. by case: z => [|p|p] //= _; rewrite ltr0n; apply/ssrnat.ltP/Pos2Nat.is_pos. Qed.

Lemma number_lt y z : (y <? z)%Z -> number y < number z.
Proof.
move=> lt; rewrite -subr_gt0 -numberN -numberD; apply: number_gt0.
by apply/Z.ltb_spec0; move/Z.ltb_spec0: lt; lia.
Qed.

Lemma number_abs z : number (Z.abs z) = `|number z|.
Proof. by case: z => [|p|p] /=; rewrite ?normr0 ?normrN ?normr_nat. Qed.
End Numbers.
Section Forms.
Variable R : realFieldType.
Add Field real : (field_field R).
Definition form n (M : 'M[R]_n) (x y : 'cV[R]_n) : R := (x^T *m M *m y) 0 0.
Definition positive n (M : 'M[R]_n) : Prop := M^T = M /\ forall x : 'cV[R]_n, x != 0 -> 0 < form M x x.

Section Rules.
Variables (n : nat) (M : 'M[R]_n).
Implicit Types x y z : 'cV[R]_n.
Lemma formDl x y z : form M (x + y) z = form M x z + form M y z.
Proof. by rewrite /form linearD /= !mulmxDl mxE. Qed.
Lemma formDr x y z : form M z (x + y) = form M z x + form M z y.
Proof. by rewrite /form !mulmxDr mxE. Qed.
Lemma formZl c x y : form M (c *: x) y = c * form M x y.
Proof. by rewrite /form linearZ /= -!scalemxAl mxE. Qed.
Lemma formZr c x y : form M x (c *: y) = c * form M x y.
Proof. by rewrite /form -!scalemxAr mxE. Qed.
Lemma formNl x y : form M (- x) y = - form M x y.
Proof. by rewrite -scaleN1r formZl mulN1r. Qed.
Lemma formNr x y : form M x (- y) = - form M x y.
Proof. by rewrite -scaleN1r formZr mulN1r. Qed.
Lemma formC x y : M^T = M -> form M x y = form M y x.
Proof.
move=> sym; rewrite /form -[in LHS]sym.
have -> : x^T *m M^T *m y = (y^T *m M *m x)^T by rewrite !trmx_mul trmxK mulmxA.
by rewrite mxE.
Qed.
Lemma form_sum x y : form M x y = \sum_i \sum_j x i 0 * M i j * y j 0.
Proof.
rewrite /form !mxE exchange_big /=; apply: eq_bigr => j _.
by rewrite mxE big_distrl /=; apply: eq_bigr => i _; rewrite mxE.
Qed.
Lemma form_mul m (U : 'M[R]_(n, m)) (u w : 'cV[R]_m) : form M (U *m u) (U *m w) = form (U^T *m M *m U) u w.
Proof. by rewrite /form trmx_mul !mulmxA. Qed.
Lemma positive_ge0 x : positive M -> 0 <= form M x x.
Proof.
case=> _ pos; case: (eqVneq x 0) => [->|/pos/ltW //].
by rewrite /form mulmx0 mxE.
Qed.
End Rules.

Lemma form_mxD n (M N : 'M[R]_n) x y : form (M + N) x y = form M x y + form N x y.
Proof. by rewrite /form mulmxDr mulmxDl mxE. Qed.
Lemma form_mxB n (M N : 'M[R]_n) x y : form (M - N) x y = form M x y - form N x y.
Proof. by rewrite /form mulmxBr mulmxBl !mxE. Qed.
Lemma form_mxZ n c (M : 'M[R]_n) x y : form (c *: M) x y = c * form M x y.
Proof. by rewrite /form -scalemxAr -scalemxAl mxE. Qed.

(* Q'K + KQ, the fall of x'Kx along x' = -Qx *)
Definition fall n (Q K : 'M[R]_n) : 'M[R]_n := Q^T *m K + K *m Q.
Lemma form_fall n (Q K : 'M[R]_n) x y : form (fall Q K) x y = form K (Q *m x) y + form K x (Q *m y).
Proof. by rewrite /form trmx_mul !mulmxA mulmxDr mulmxDl mxE !mulmxA. Qed.

(* What is said of Q. An eigenvalue a + ib has an eigenvector x + iy up to sign, in real numbers: *)
Definition eigenpair n (Q : 'M[R]_n) (a b : R) (x y : 'cV[R]_n) : Prop :=
  [/\ (x != 0) || (y != 0), Q *m x = a *: x - b *: y & Q *m y = a *: y + b *: x].

Lemma two_positive n (K : 'M[R]_n) x y : positive K -> (x != 0) || (y != 0) -> 0 < form K x x + form K y y.
Proof.
move=> pos; case/orP => nz; [apply: ltr_paddr | apply: ltr_paddl]; try exact: positive_ge0; exact: pos.2.
Qed.

(* A strictly dominant diagonal makes a symmetric matrix positive definite, *)
Lemma dominant n (N : 'M[R]_n) :
  N^T = N -> (forall i, \sum_j `|N i j| < N i i + N i i) -> positive N.
Proof.
move=> sym dom; split=> // x nz; rewrite form_sum.
have two : 0 < (2%:R : R) by rewrite ltr0n.
rewrite -(pmulr_rgt0 _ two) mulr_sumr.
pose low i j : R := (i == j)%:R * (4%:R * N i i * x i 0 ^+ 2) - `|N i j| * (x i 0 ^+ 2 + x j 0 ^+ 2).
apply: (@lt_le_trans _ _ (\sum_i \sum_j low i j)); last first.
  apply: ler_sum => i _; rewrite mulr_sumr; apply: ler_sum => j _; rewrite /low.
  have bound : - N i j <= `|N i j| by rewrite -normrN ler_norm.
  have bound' := ler_norm (N i j).
  case: (eqVneq i j) => [<-|_].
    rewrite -subr_ge0.
    have -> : 2%:R * (x i 0 * N i i * x i 0) - (1%:R * (4%:R * N i i * x i 0 ^+ 2) - `|N i i| * (x i 0 ^+ 2 + x i 0 ^+ 2))
      = 2%:R * (x i 0 ^+ 2) * (`|N i i| - N i i) by rewrite /= ; by_scalars R.
    by rewrite mulr_ge0 ?subr_ge0 ?ler_norm // mulr_ge0 ?sqr_ge0 // ltW.
  rewrite mul0r add0r -subr_ge0; case: (lerP 0 (N i j)) => [ge|/ltW le]; [rewrite (ger0_norm ge) | rewrite (ler0_norm le)].
    have -> : 2%:R * (x i 0 * N i j * x j 0) - - (N i j * (x i 0 ^+ 2 + x j 0 ^+ 2))
      = N i j * (x i 0 + x j 0) ^+ 2 by by_scalars R.
    by rewrite mulr_ge0 ?sqr_ge0.
  have -> : 2%:R * (x i 0 * N i j * x j 0) - - (- N i j * (x i 0 ^+ 2 + x j 0 ^+ 2))
    = - N i j * (x i 0 - x j 0) ^+ 2 by by_scalars R.
  by rewrite mulr_ge0 ?sqr_ge0 // oppr_ge0.
have -> : \sum_i \sum_j low i j = \sum_i 2%:R * (N i i + N i i - \sum_j `|N i j|) * x i 0 ^+ 2.
  have -> : \sum_i \sum_j low i j = \sum_i \sum_j ((i == j)%:R * (4%:R * N i i * x i 0 ^+ 2) - `|N i j| * x i 0 ^+ 2)
     - \sum_i \sum_j `|N i j| * x j 0 ^+ 2.
    rewrite -sumrB; apply: eq_bigr => i _; rewrite -sumrB; apply: eq_bigr => j _.
    by rewrite /low mulrDr opprD addrA.
  rewrite [X in _ - X]exchange_big -sumrB; apply: eq_bigr => i _ /=.
  rewrite sumrB -mulr_suml.
  have -> : \sum_j ((i == j)%:R : R) = 1.
    by rewrite (bigD1 i) //= eqxx big1 ?addr0 // => j /negbTE; rewrite eq_sym => ->.
  have -> : \sum_j `|N j i| * x i 0 ^+ 2 = (\sum_j `|N i j|) * x i 0 ^+ 2.
    by rewrite mulr_suml; apply: eq_bigr => j _; rewrite -[in LHS]sym mxE.
  rewrite -mulr_suml; by_scalars R.
have : exists i, x i 0 != 0.
  apply/existsP; rewrite -negb_forall; apply: contra nz => /forallP zero.
  by apply/eqP/matrixP => i j; rewrite ord1 mxE; apply/eqP; move: (zero i).
have term i : 0 < 2%:R * (N i i + N i i - \sum_j `|N i j|) by rewrite mulr_gt0 // subr_gt0.
case=> i xi; rewrite (bigD1 i) //= ltr_paddr //; last by rewrite mulr_gt0 // lt_def sqrf_eq0 xi sqr_ge0.
by rewrite sumr_ge0 // => j _; rewrite mulr_ge0 ?sqr_ge0 // ltW.
Qed.

(* and so does one that a change of basis W brings about: W near the inverse of L' where K = LDL'. *)
Lemma positive_by n (K V : 'M[R]_n) :
  K^T = K -> (forall i, \sum_j `|(V *m K *m V^T) i j| < (V *m K *m V^T) i i + (V *m K *m V^T) i i) -> positive K.
Proof.
move=> sym dom; have [_ pos] : positive (V *m K *m V^T).
  by apply: dominant => //; rewrite !trmx_mul trmxK sym mulmxA.
have unit : V \in unitmx.
  rewrite -row_free_unit -kermx_eq0; apply/eqP/row_matrixP => i; rewrite row0.
  have : row i (kermx V) *m V = 0 by rewrite -row_mul mulmx_ker row0.
  move: (row i _) => u zero; apply/eqP; rewrite -trmx_eq0; apply/negPn/negP => /pos.
  by rewrite /form trmxK !mulmxA zero !mul0mx mxE ltxx.
split=> // x nz.
have back : V^T *m (invmx V^T *m x) = x by rewrite mulKVmx // unitmx_tr.
rewrite -back form_mul trmxK pos //.
by apply: contra nz => /eqP zero; rewrite -back zero mulmx0.
Qed.

End Forms.
