(* Tables of whole numbers: what is computed, and the matrices that are meant. *)
Canonical Z_eqType := EqType Z (EqMixin Z.eqb_spec).
Notation table := (seq (seq Z)).
Definition entry (A : table) i j : Z := nth 0%Z (nth [::] A i) j.

Section Tables.
Variable R : realFieldType.
Add Field tables : (field_field R).
(* the matrix of the fractions A_ij / c *)
Definition fractions n m (A : table) (c : Z) : 'M[R]_(n, m) := \matrix_(i, j) (number R (entry A i j) / number R c).
Definition whole n m (A : table) : 'M[R]_(n, m) := \matrix_(i, j) number R (entry A i j).
Lemma fractions_whole n m A c : fractions n m A c = (number R c)^-1 *: whole n m A.
Proof. by apply/matrixP => i j; rewrite !mxE mulrC. Qed.

Definition shape (n m : nat) (A : table) := (size A == n) && all (fun r => size r == m) A.
Lemma shape_row n m A i : shape n m A -> (i < n)%N -> size (nth [::] A i) = m.
Proof. by case/andP => /eqP <- /all_nthP rows lt; apply/eqP/rows. Qed.

Fixpoint dot (u v : seq Z) : Z := match u, v with a :: u', b :: v' => (a * b + dot u' v')%Z | _, _ => 0%Z end.
Lemma dot_sum m u v : size u = m -> size v = m ->
  number R (dot u v) = \sum_(k < m) number R (nth 0%Z u k) * number R (nth 0%Z v k).
Proof.
elim: m u v => [|m IH] [|a u] [|b v] //=; first by rewrite big_ord0.
by move=> [su] [sv]; rewrite big_ord_recl numberD numberM (IH u v).
Qed.

Definition times (A B : table) : table := map (fun r => map (dot r) B) A.   (* A B' *)
Definition turn m (A : table) : table := mkseq (fun j => map (fun r => nth 0%Z r j) A) m.
Definition mix n a (A : table) b (B : table) : table :=
  mkseq (fun i => mkseq (fun j => (a * entry A i j + b * entry B i j)%Z) n) n.

Lemma shape_times n k m A B : shape n k A -> shape m k B -> shape n m (times A B).
Proof.
case/andP => /eqP sA _ /andP[/eqP sB _]; rewrite /shape size_map sA eqxx /=.
by apply/allP => r /mapP[s _ ->]; rewrite size_map sB.
Qed.
Lemma shape_turn n m A : shape n m A -> shape m n (turn m A).
Proof.
case/andP => /eqP sA _; rewrite /shape size_mkseq eqxx /=.
by apply/allP => r /mapP[j _ ->]; rewrite size_map sA.
Qed.
Lemma shape_mix n a A b B : shape n n (mix n a A b B).
Proof. by rewrite /shape size_mkseq eqxx /=; apply/allP => r /mapP[j _ ->]; rewrite size_mkseq. Qed.
Lemma whole_times n k m A B : shape n k A -> shape m k B ->
  whole n m (times A B) = whole n k A *m (whole m k B)^T.
Proof.
move=> sA sB; have [/eqP zA _] := andP sA; have [/eqP zB _] := andP sB.
apply/matrixP => i j; rewrite !mxE /entry (nth_map [::]) ?zA // (nth_map [::]) ?zB //.
rewrite (@dot_sum k) ?(shape_row sA) ?(shape_row sB) //.
by apply: eq_bigr => l _; rewrite !mxE.
Qed.
Lemma whole_turn n m A : shape n m A -> whole m n (turn m A) = (whole n m A)^T.
Proof.
case/andP => /eqP sA _; apply/matrixP => i j.
by rewrite !mxE /entry nth_mkseq // (nth_map [::]) ?sA.
Qed.
Lemma whole_mix n a A b B : whole n n (mix n a A b B) = number R a *: whole n n A + number R b *: whole n n B.
Proof. by apply/matrixP => i j; rewrite !mxE /entry !nth_mkseq // numberD !numberM. Qed.

Definition size_of (u : seq Z) : Z := foldr (fun x s => (Z.abs x + s)%Z) 0%Z u.
Lemma size_of_sum m u : size u = m -> number R (size_of u) = \sum_(k < m) `|number R (nth 0%Z u k)|.
Proof.
elim: m u => [|m IH] [|a u] //=; first by rewrite big_ord0.
by move=> [su]; rewrite big_ord_recl numberD number_abs (IH u).
Qed.

(* K = K', and V K V' has a strictly dominant diagonal *)
Definition definite (n : nat) (K V : table) : bool :=
  [&& shape n n K, shape n n V, K == turn n K &
   let N := times V (times V K) in
   all (fun i => size_of (nth [::] N i) <? entry N i i + entry N i i)%Z (iota 0 n)].
Lemma definite_positive n K V : definite n K V -> positive (whole n n K).
Proof.
case/and4P => sK sV /eqP sym dom.
have symK : (whole n n K)^T = whole n n K by rewrite -(whole_turn sK) -sym.
apply: (positive_by (V := whole n n V)) => // i.
have sVK := shape_times sV sK; have sN := shape_times sV sVK.
have -> : whole n n V *m whole n n K *m (whole n n V)^T = whole n n (times V (times V K)).
  by rewrite (whole_times sV sVK) (whole_times sV sK) symK trmx_mul symK mulmxA.
have /(allP dom)/number_lt-/(_ R) : nat_of_ord i \in iota 0 n by rewrite mem_iota /=.
rewrite numberD (size_of_sum (shape_row sN _)) //.
by rewrite (eq_bigr (fun j => `|whole n n (times V (times V K)) i j|)) ?mxE // => j _; rewrite mxE.
Qed.
Lemma definite_shape n K V : definite n K V -> shape n n K.
Proof. by case/and4P. Qed.

(* Q'K + KQ, where K = K' *)
Definition falls n (Q K : table) : table := let KQ := times K (turn n Q) in mix n 1 KQ 1 (turn n KQ).
Lemma whole_falls n Q K : shape n n Q -> shape n n K -> (whole n n K)^T = whole n n K ->
  whole n n (falls n Q K) = fall (whole n n Q) (whole n n K).
Proof.
move=> sQ sK symK; have sT := shape_turn sQ; have sKQ := shape_times sK sT.
rewrite whole_mix !scale1r (whole_turn sKQ) (whole_times sK sT) (whole_turn sQ) trmxK.
by rewrite trmx_mul symK addrC.
Qed.

(* AB = BQ with one denominator for A and Q, and C B is diagonal without a 0: the columns of B are independent *)
Definition restricts (d n : nat) (A B Q C : table) : bool :=
  [&& shape d d A, shape d n B, shape n n Q, shape n d C, times A (turn n B) == times B (turn n Q) &
   let N := times C (turn n B) in
   all (fun i => all (fun j => (entry N i j == 0%Z) == (i != j)) (iota 0 n)) (iota 0 n)].

Definition restriction d n (A : 'M[R]_d) (B : 'M[R]_(d, n)) (Q : 'M[R]_n) : Prop :=
  A *m B = B *m Q /\ forall x : 'cV[R]_n, B *m x = 0 -> x = 0.

Lemma number_eq0 z : (number R z == 0) = (z == 0%Z).
Proof.
have pos p : ((Pos.to_nat p)%:R == 0 :> R) = false.
  by apply/negbTE; rewrite pnatr_eq0 -lt0n; apply/ssrnat.ltP/Pos2Nat.is_pos.
by case: z => [|p|p] //=; rewrite ?eqxx ?oppr_eq0 ?pos.
Qed.

Lemma restricts_restriction d n A B Q C a b : (0 <? a)%Z -> (0 <? b)%Z -> restricts d n A B Q C ->
  restriction (fractions d d A a) (fractions d n B b) (fractions n n Q a).
Proof.
move=> a0 b0 /and5P[sA sB sQ sC /andP[/eqP AB diag]].
have sBt := shape_turn sB; split.
  rewrite !fractions_whole -!scalemxAl -!scalemxAr !scalerA mulrC; congr (_ *: _).
  have := congr1 (whole d n) AB.
  by rewrite (whole_times sA sBt) (whole_times sB (shape_turn sQ)) !whole_turn // !trmxK.
move=> x; rewrite fractions_whole -scalemxAl => /eqP; rewrite scaler_eq0 invr_eq0.
rewrite (negbTE (lt0r_neq0 (number_gt0 R b0))) /= => /eqP zero.
have : whole n n (times C (turn n B)) *m x = 0.
  by rewrite (whole_times sC sBt) (whole_turn sB) trmxK -mulmxA zero mulmx0.
move=> prod; apply/matrixP => i k; rewrite ord1 mxE; apply/eqP.
have in_iota (j : 'I_n) : nat_of_ord j \in iota 0 n by rewrite mem_iota /=.
have at_ j := allP (allP diag _ (in_iota i)) _ (in_iota j).
have := congr1 (fun M : 'cV[R]_n => M i 0) prod; rewrite mxE (bigD1 i) //= big1 ?addr0 => [|j ne].
  by move/eqP; rewrite !mxE mulf_eq0 number_eq0 (eqP (at_ i)) eqxx.
have differ : (nat_of_ord i == nat_of_ord j) = false by rewrite eq_sym; apply/negbTE.
by have := eqP (at_ j); rewrite differ => /eqP zero_ij; rewrite mxE zero_ij mul0r.
Qed.

Lemma positive_scaled n c (M : 'M[R]_n) : 0 < c -> positive (c *: M) -> positive M.
Proof.
move=> c0 [sym pos]; split=> [|x /pos]; last by rewrite form_mxZ pmulr_rgt0.
by apply: (scalerI (lt0r_neq0 c0)); rewrite -linearZ.
Qed.
Lemma fall_scaled n c (Q K : 'M[R]_n) : fall (c *: Q) K = c *: fall Q K.
Proof. by rewrite /fall linearZ /= -scalemxAl -scalemxAr scalerDr. Qed.

(* An eigenvalue of A with an eigenvector in the span of B is one of Q. *)
Lemma eigenpair_restricted d n (A : 'M[R]_d) (B : 'M[R]_(d, n)) (Q : 'M[R]_n) a b x y :
  restriction A B Q -> eigenpair A a b (B *m x) (B *m y) -> eigenpair Q a b x y.
Proof.
case=> AB inj [nz Ax Ay]; split.
- by apply: contraTT nz; rewrite !negb_or !negbK => /andP[/eqP -> /eqP ->]; rewrite mulmx0 eqxx.
- apply/eqP; rewrite -subr_eq0; apply/eqP/inj; rewrite mulmxBr mulmxBr !mulmxA -AB -!mulmxA Ax.
  by rewrite -!scalemxAr subrr.
apply/eqP; rewrite -subr_eq0; apply/eqP/inj; rewrite mulmxBr mulmxDr !mulmxA -AB -!mulmxA Ay.
by rewrite -!scalemxAr subrr.
Qed.

End Tables.
