(* Stable: K and Q'K + KQ are positive definite (Lyapunov). *)
Section Stable.
Variable R : realFieldType.
Add Field stable : (field_field R).

Theorem stable_by n (Q K : 'M[R]_n) a b x y :
  positive K -> positive (fall Q K) -> eigenpair Q a b x y -> 0 < a.
Proof.
move=> posK posS [nz Qx Qy].
have K0 := two_positive posK nz; have := two_positive posS nz.
rewrite !form_fall Qx Qy !(formDl, formDr, formNl, formNr, formZl, formZr) (formC y x posK.1).
move=> S0; have : 0 < a * (form K x x + form K y y) *+ 2 by move: S0; congr (0 < _); by_scalars R.
by rewrite pmulrn_lgt0 // pmulr_lgt0.
Qed.

Definition stable_check (d n : nat) (A : table) (a : Z) (B : table) (b : Z) (Q C K V W : table) : bool :=
  [&& (0 <? a)%Z, (0 <? b)%Z, restricts d n A B Q C, definite n K V & definite n (falls n Q K) W].

Theorem stable_sound (d n : nat) A a B b Q C K V W : stable_check d n A a B b Q C K V W ->
  let A := fractions R d d A a in let B := fractions R d n B b in let Q := fractions R n n Q a in
  [/\ restriction A B Q,
      forall s t x y, eigenpair Q s t x y -> 0 < s
    & forall s t x y, eigenpair A s t (B *m x) (B *m y) -> 0 < s].
Proof.
case/and5P => a0 b0 res defK defS; have restr := restricts_restriction R a0 b0 res.
have sQ : shape n n Q by case/and5P: res.
have posK := definite_positive R defK.
have eigen s t x y : eigenpair (fractions R n n Q a) s t x y -> 0 < s.
  apply: (stable_by posK); rewrite fractions_whole fall_scaled.
  have := definite_positive R defS; rewrite (whole_falls sQ (definite_shape defK) posK.1) => pos.
  apply: (positive_scaled (c := number R a)); first exact: number_gt0.
  by rewrite scalerA divff ?scale1r // lt0r_neq0 ?number_gt0.
by split=> // s t x y /(eigenpair_restricted restr)/eigen.
Qed.
End Stable.
