(* Means over the behaviour's actions with ratios, against means over the target's. *)

Section Means.
Variable R : realFieldType.
Add Field real : (field_field R).
Variables (S A : finType) (xi : S -> R) (pi mu : S -> A -> R).
Hypothesis coverage : forall s a, mu s a = 0 -> pi s a = 0.
Let rho s a := pi s a / mu s a.

Lemma covered s a : mu s a * rho s a = pi s a.
Proof.
rewrite /rho; case: (eqVneq (mu s a) 0) => [zero|nz]; first by rewrite zero mul0r coverage.
by rewrite mulrC divfK.
Qed.

(* y s a is what the sum over the next states is: any vector *)
Theorem importance_weighting (V : lmodType R) (y : S -> A -> V) :
  \sum_s xi s *: (\sum_a pi s a *: y s a)
  = \sum_s xi s *: (\sum_a mu s a *: (rho s a *: y s a)).
Proof.
by apply: eq_bigr => s _; congr (_ *: _); apply: eq_bigr => a _; rewrite scalerA covered.
Qed.

Hypothesis target : forall s, \sum_a pi s a = 1.
Hypothesis behaviour : forall s, \sum_a mu s a = 1.

Lemma ratios s : \sum_a mu s a * (rho s a - 1) = 0.
Proof.
have -> : \sum_a mu s a * (rho s a - 1) = \sum_a pi s a - \sum_a mu s a.
  by rewrite -sumrB; apply: eq_bigr => a _; rewrite mulrBr mulr1 covered.
by rewrite target behaviour subrr.
Qed.

(* y s is phi'theta *)
Theorem rho_minus_one (y : S -> R) :
  \sum_s xi s * (\sum_a mu s a * ((rho s a - 1) * y s)) = 0 /\
  \sum_s xi s * (\sum_a mu s a * ((rho s a - 1) * y s))
  = \sum_s xi s * ((\sum_a pi s a - \sum_a mu s a) * y s).
Proof.
have zero s : \sum_a mu s a * ((rho s a - 1) * y s) = 0.
  by rewrite (eq_bigr (fun a => mu s a * (rho s a - 1) * y s)) => [|a _]; rewrite ?mulrA // -mulr_suml ratios mul0r.
split; first by rewrite big1 // => s _; rewrite zero mulr0.
by apply: eq_bigr => s _; rewrite zero target behaviour subrr mul0r.
Qed.

(* w s: the weight of s at t - 1; P s a t: the next state; z s: gamma lambda omega phi; y t: phi'theta *)
Theorem second_rho_minus_one (V : lmodType R) (w : S -> R) (P : S -> A -> S -> R)
    (z : S -> A -> S -> V) (y : S -> R) :
  \sum_s w s *: (\sum_a mu s a *: (\sum_t P s a t *:
    (\sum_c mu t c *: ((rho s a * ((rho t c - 1) * y t)) *: z s a t)))) = 0.
Proof.
rewrite big1 // => s _; rewrite big1 ?scaler0 // => a _; rewrite big1 ?scaler0 // => t _.
rewrite (eq_bigr (fun c => (mu t c * (rho t c - 1) * (y t * rho s a)) *: z s a t)) => [|c _].
  by rewrite -scaler_suml -mulr_suml ratios mul0r !scale0r scaler0.
by rewrite scalerA; congr (_ *: _); by_scalars R.
Qed.
End Means.

Section Matrix.
Variables (R : fieldType) (n d : nat) (Phi : 'M[R]_(n, d)) (xi : 'rV[R]_n).

(* the mean of phi phi' where s has the law xi *)
Theorem c_hat_unbiased :
  \sum_s xi 0 s *: ((row s Phi)^T *m row s Phi) = Phi^T *m diag_mx xi *m Phi.
Proof.
apply/matrixP => i j; rewrite summxE mxE; apply: eq_bigr => s _.
by rewrite mul_mx_diag !mxE big_ord1 !mxE [_ * xi 0 s]mulrC mulrA.
Qed.
End Matrix.
