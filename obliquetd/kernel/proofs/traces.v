(* Polynomial identities of Section III-D, and the follow-on trace step by step. *)

Section Traces.
Variable F : fieldType.
Add Field scalars_of_F : (field_field F).

(* x: phi_t'theta, y: phi_{t+1}'theta, G: the return from t + 1 on *)
Theorem delta_recursion (rho r gamma lam x y G : F) :
  let delta_lambda := rho * (r + gamma * ((1 - lam) * y + lam * G)) - x in
  let delta := r + gamma * y - x in
  let delta_lambda_next := G - y in
  delta_lambda = rho * delta + rho * gamma * lam * delta_lambda_next + (rho - 1) * x.
Proof. by move=> a b c; rewrite /a /b /c; by_scalars F. Qed.

(* z t: omega_t phi_t, a vector; g: gamma lambda. The trace begins with e_0 = rho_0 z_0. *)
Theorem trace_unrolled (V : lmodType F) (rho : nat -> F) (z e : nat -> V) (g : F) :
  e 0%N = rho 0%N *: z 0%N -> (forall t, e t.+1 = rho t.+1 *: (z t.+1 + g *: e t)) ->
  forall t, e t = rho t *: \sum_(k < t.+1) (g ^+ k * \prod_(1 <= j < k.+1) rho (t - j)%N) *: z (t - k)%N.
Proof.
move=> start step; elim=> [|t IH].
  by rewrite start big_ord1 expr0 big_geq // mulr1 scale1r.
rewrite step IH [in RHS]big_ord_recl /= expr0 big_geq // mulr1 scale1r subn0; congr (_ *: (_ + _)).
rewrite !scaler_sumr; apply: eq_bigr => k _; rewrite !scalerA /bump /= add1n subSS; congr (_ *: _).
rewrite [in RHS]big_nat_recl // exprS subSS subn0.
have -> : \prod_(1 <= i < k.+1) rho (t.+1 - i.+1)%N = \prod_(1 <= j < k.+1) rho (t - j)%N.
  by apply: eq_bigr => i _; rewrite subSS.
by move: (\prod_(_ <= _ < _) _) (g ^+ k) => p q; by_scalars F.
Qed.
End Traces.
