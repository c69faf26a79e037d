(* Singular: Qv = 0. *)
Definition singular_check (d n : nat) (A : table) (a : Z) (B : table) (b : Z) (Q C v : table) : bool :=
  [&& (0 <? a)%Z, (0 <? b)%Z, restricts d n A B Q C, shape 1%N n v &
   [&& all (fun r => r == [:: 0%Z]) (times Q v) & ~~ all (fun r => all (fun x => x == 0%Z) r) v]].

Theorem singular_sound (R : realFieldType) (d n : nat) A a B b Q C v : singular_check d n A a B b Q C v ->
  let A := fractions R d d A a in let B := fractions R d n B b in let Q := fractions R n n Q a in
  [/\ restriction A B Q, exists2 x : 'cV[R]_n, x != 0 & Q *m x = 0 & exists2 x : 'cV[R]_d, x != 0 & A *m x = 0].
Proof.
case/and5P => a0 b0 res sv /andP[zero some]; have restr := restricts_restriction R a0 b0 res.
have [AB inj] := restr; have sQ : shape n n Q by case/and5P: res.
have zv : size v = 1%N by case/andP: sv => /eqP.
pose x : 'cV[R]_n := (whole R 1%N n v)^T.
have nz : x != 0.
  apply: contra some; rewrite trmx_eq0 => /eqP/matrixP is0.
  apply/(all_nthP [::]) => i; rewrite zv ltnS leqn0 => /eqP ->.
  apply/(all_nthP 0%Z) => j; rewrite (shape_row sv) // => lt.
  by have := is0 ord0 (Ordinal lt); rewrite !mxE => /eqP; rewrite number_eq0.
have Qx : fractions R n n Q a *m x = 0.
  rewrite fractions_whole -scalemxAl -(whole_times R sQ sv); apply/matrixP => i j.
  have sT := shape_times sQ sv; rewrite !mxE /entry.
  have lt : (i < size (times Q v))%N by case/andP: sT => /eqP -> _.
  by move/(all_nthP [::])/(_ _ lt)/eqP: zero => ->; rewrite ord1 mulr0.
split=> //; first by exists x.
exists (fractions R d n B b *m x); first by apply: contra nz => /eqP/inj ->.
by rewrite mulmxA AB -mulmxA Qx mulmx0.
Qed.
