(* Convergent: K and K - Q'KQ are positive definite (Stein). *)
Section Convergent.
Variable R : realFieldType.
Add Field convergent : (field_field R).

Theorem convergent_by n (Q K : 'M[R]_n) a b x y :
  positive K -> positive (K - Q^T *m K *m Q) -> eigenpair Q a b x y -> a ^+ 2 + b ^+ 2 < 1.
Proof.
move=> posK posS [nz Qx Qy].
have K0 := two_positive posK nz; have := two_positive posS nz.
rewrite !form_mxB -!form_mul Qx Qy !(formDl, formDr, formNl, formNr, formZl, formZr) (formC y x posK.1).
move=> S0; have : 0 < (1 - (a ^+ 2 + b ^+ 2)) * (form K x x + form K y y) by move: S0; congr (0 < _); by_scalars R.
by rewrite pmulr_lgt0 // subr_gt0.
Qed.
End Convergent.

(* Convergent: K - Q'KQ, with Q = table / a, is a table over a^2. *)
Definition convergent_check (d n : nat) (A : table) (a : Z) (B : table) (b : Z) (Q C K V W : table) : bool :=
  [&& (0 <? a)%Z, (0 <? b)%Z, restricts d n A B Q C, definite n K V &
   let T := turn n Q in definite n (mix n (a * a)%Z K (-1)%Z (times T (times T K))) W].

Theorem convergent_sound (R : realFieldType) (d n : nat) A a B b Q C K V W : convergent_check d n A a B b Q C K V W ->
  let A := fractions R d d A a in let B := fractions R d n B b in let Q := fractions R n n Q a in
  [/\ restriction A B Q,
      forall s t x y, eigenpair Q s t x y -> s ^+ 2 + t ^+ 2 < 1
    & forall s t x y, eigenpair A s t (B *m x) (B *m y) -> s ^+ 2 + t ^+ 2 < 1].
Proof.
case/and5P => a0 b0 res defK defS; have restr := restricts_restriction R a0 b0 res.
have sQ : shape n n Q by case/and5P: res.
have posK := definite_positive R defK; have sK := definite_shape defK; have sT := shape_turn sQ.
have a_pos := number_gt0 R a0.
have eigen s t x y : eigenpair (fractions R n n Q a) s t x y -> s ^+ 2 + t ^+ 2 < 1.
  apply: (convergent_by posK); apply: (positive_scaled (c := number R a * number R a)); first by rewrite mulr_gt0.
  have := definite_positive R defS.
  rewrite whole_mix (whole_times R sT (shape_times sT sK)) (whole_times R sT sK) (whole_turn R sQ).
  congr positive; rewrite fractions_whole trZ -!scalemxAl -!scalemxAr scalerBr !scalerA mulfK ?lt0r_neq0 //.
  rewrite divff ?lt0r_neq0 // scale1r numberM trmx_mul !trmxK.
  by rewrite (_ : number R (-1) = -1) // scaleN1r mulmxA.
by split=> // s t x y /(eigenpair_restricted restr)/eigen.
Qed.
