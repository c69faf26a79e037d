(* Sentences of the folklore that are algebra, for matrices of any size. *)

Section Field.
Variable F : fieldType.
Add Field scalars_of_folklore : (field_field F).
Variables n d : nat.
Implicit Types (Phi X : 'M[F]_(n, d)) (L Xi G : 'M[F]_n) (r V : 'cV[F]_n) (t theta : 'cV[F]_d).

(* the projected equation X'(r - L Phi theta) = 0, and the values V in the span *)
Theorem realizable_exact Phi X L V t theta : X^T *m L *m Phi \in unitmx -> V = Phi *m t ->
  X^T *m (L *m V - L *m (Phi *m theta)) = 0 -> Phi *m theta = V.
Proof.
move=> inv -> /eqP; rewrite mulmxBr subr_eq0 !mulmxA => /eqP e.
by rewrite -(mulKmx inv t) e mulKmx.
Qed.

(* r = Phi rho and G Phi = Phi M: T v = r + G v leads from the span into the span *)
Theorem complete_span_exact Phi X G (M : 'M[F]_d) V (rho : 'cV[F]_d) theta :
  let L := 1%:M - G in X^T *m L *m Phi \in unitmx -> L \in unitmx -> G *m Phi = Phi *m M -> L *m V = Phi *m rho ->
  X^T *m (L *m V - L *m (Phi *m theta)) = 0 -> Phi *m theta = V.
Proof.
move=> L inv invL GM LV; have LPhi : L *m Phi = Phi *m (1%:M - M).
  by rewrite /L mulmxBl mul1mx GM mulmxBr mulmx1.
have invM : 1%:M - M \in unitmx.
  by move: inv; rewrite -mulmxA LPhi mulmxA unitmx_mul => /andP[].
apply: (@realizable_exact _ _ _ _ (invmx (1%:M - M) *m rho)) => //.
by rewrite -[LHS](mulKmx invL) LV -[Phi in LHS](mulmxK invM) -LPhi -!mulmxA mulKmx.
Qed.

Theorem basis_does_not_matter_to_values Phi (A B : 'M[F]_d) (b theta theta2 : 'cV[F]_d) :
  A \in unitmx -> B \in unitmx -> A *m theta = b -> B^T *m A *m B *m theta2 = B^T *m b ->
  Phi *m B *m theta2 = Phi *m theta.
Proof.
move=> invA invB <- e; have invBT : B^T \in unitmx by rewrite unitmx_tr.
rewrite -mulmxA; congr (_ *m _); apply: (can_inj (mulKmx invA)); apply: (can_inj (mulKmx invBT)).
by rewrite -[RHS]e !mulmxA.
Qed.

(* A = Phi'Xi L Phi and b = Phi'Xi L V; X = L'Xi Phi. The bound says no more, by what a norm of a matrix is. *)
Theorem oblique_bound Phi L Xi V theta : Xi^T = Xi -> Phi^T *m Xi *m Phi \in unitmx ->
  let X := L^T *m Xi *m Phi in let Pi := Phi *m invmx (Phi^T *m Xi *m Phi) *m Phi^T *m Xi in
  let PiX := Phi *m invmx (X^T *m Phi) *m X^T in X^T *m Phi \in unitmx ->
  Phi^T *m Xi *m L *m Phi *m theta = Phi^T *m Xi *m L *m V ->
  V - Phi *m theta = (1%:M - PiX) *m (V - Pi *m V).
Proof.
move=> sym invC X Pi PiX inv e.
have XT : X^T = Phi^T *m Xi *m L by rewrite /X !trmx_mul trmxK sym mulmxA.
have XV : X^T *m V = X^T *m Phi *m theta by rewrite XT -e.
have fixed : PiX *m V = Phi *m theta by rewrite /PiX -mulmxA XV -mulmxA mulKmx.
have stays z : PiX *m (Phi *m z) = Phi *m z by rewrite /PiX -mulmxA (mulmxA X^T) -mulmxA mulKmx.
have PiV : Pi *m V = Phi *m (invmx (Phi^T *m Xi *m Phi) *m Phi^T *m Xi *m V) by rewrite /Pi !mulmxA.
rewrite mulmxBl mul1mx mulmxBr fixed PiV stays.
by rewrite opprB addrA subrK.
Qed.

(* Xi (I - G) is symmetric where xi(s) G(s, s') = xi(s') G(s', s); the mean update b - A theta is a gradient where A is *)
Theorem td_gradient_reversible Phi Xi G : Xi^T = Xi -> Xi *m G = (Xi *m G)^T ->
  let A := Phi^T *m Xi *m (1%:M - G) *m Phi in A^T = A.
Proof.
move=> sym rev A; rewrite /A -[_ *m Xi *m _]mulmxA mulmxBr mulmx1.
by rewrite trmx_mul trmx_mul trmxK linearB /= sym -rev mulmxA.
Qed.

(* [0, -A'; mu A, mu C] and [A, C - A'; mu A, mu C] *)
Theorem gradient_td_same_fixed_point (A C : 'M[F]_d) (mu : F) (b u w : 'cV[F]_d) : A \in unitmx -> mu != 0 ->
  (block_mx 0 (- A^T) (mu *: A) (mu *: C) *m col_mx u w = col_mx 0 (mu *: b) -> A *m u = b /\ w = 0) /\
  (block_mx A (C - A^T) (mu *: A) (mu *: C) *m col_mx u w = col_mx b (mu *: b) -> A *m u = b /\ w = 0).
Proof.
move=> inv nz; have invT : A^T \in unitmx by rewrite unitmx_tr.
have zero : A^T *m w = 0 -> w = 0 by move=> e; rewrite -[w](mulKmx invT) e mulmx0.
have half : mu *: A *m u + mu *: C *m w = mu *: b -> A *m u + C *m w = b.
  by rewrite -!scalemxAl -scalerDr => /(scalerI nz).
split; rewrite mul_block_col => /eq_col_mx [e1 /half e2].
  have w0 : w = 0 by apply: zero; apply: oppr_inj; move: e1; rewrite mul0mx add0r mulNmx oppr0.
  by split=> //; move: e2; rewrite w0 mulmx0 addr0.
have w0 : w = 0.
  apply: zero; have := e1; rewrite -{1}e2 mulmxBl => /eqP; rewrite -subr_eq0 => /eqP e.
  by rewrite -[LHS]opprK -[LHS]opprK; apply: oppr_inj; rewrite oppr0 -e; linear F.
by split=> //; move: e2; rewrite w0 mulmx0 addr0.
Qed.

(* along any path, with rho = 1 throughout: the trace of the target and that of the behaviour are one *)
Theorem htd_is_td_on_policy (phi next : nat -> 'cV[F]_d) (rho r g h alpha : nat -> F) (e e_mu w : nat -> 'cV[F]_d)
    (theta td : nat -> 'cV[F]_d) :
  (forall k : nat, rho k = 1) -> e 0%N = rho 0%N *: phi 0%N -> e_mu 0%N = phi 0%N ->
  (forall k : nat, e k.+1 = rho k.+1 *: (h k *: e k + phi k.+1)) -> (forall k : nat, e_mu k.+1 = h k *: e_mu k + phi k.+1) ->
  let delta (k : nat) x := r k + g k * ((next k)^T *m x) 0 0 - ((phi k)^T *m x) 0 0 in
  (forall k : nat, theta k.+1 = theta k + alpha k *: (delta k (theta k) *: e k
    + (((e k - e_mu k)^T *m w k) 0 0) *: (phi k - g k *: next k))) ->
  (forall k : nat, td k.+1 = td k + alpha k *: (delta k (td k) *: e k)) ->
  theta 0%N = td 0%N -> forall k : nat, theta k = td k.
Proof.
move=> one e0 m0 eS mS delta hybrid plain start.
have same (k : nat) : e k = e_mu k.
  by elim: k => [|k IH]; rewrite ?e0 ?m0 ?eS ?mS one scale1r // IH.
elim=> [//|k IH]; rewrite hybrid plain IH same subrr trmx0 mul0mx.
by rewrite [X in X *: (phi k - _)]mxE scale0r addr0.
Qed.
End Field.

(* What an averager makes of two estimates: D^-1 Phi'Xi, G and Phi are nonnegative, with rows of sum 1, gamma and 1 at
   most. *)
Section Averager.
Variables (R : realFieldType) (n d : nat) (Phi : 'M[R]_(n, d)) (xi : 'rV[R]_n) (G : 'M[R]_n) (gamma : R).
Hypothesis nonneg : forall i j, 0 <= Phi i j.
Hypothesis sums : forall i, \sum_j Phi i j <= 1.
Hypothesis positive : forall i, 0 < xi 0 i.
Hypothesis G_nonneg : forall i j, 0 <= G i j.
Hypothesis G_rows : forall i, \sum_j G i j <= gamma.
Let mass j := \sum_i xi 0 i * Phi i j.
Hypothesis massive : forall j, mass j != 0.    (* no feature is 0 everywhere *)
Let sweep : 'M[R]_d := \matrix_(j, k) ((\sum_i xi 0 i * Phi i j * (G *m Phi) i k) / mass j).

Theorem averagers_never_diverge j : \sum_k `|sweep j k| <= gamma.
Proof.
have m0 : 0 < mass j.
  by rewrite lt_def massive sumr_ge0 // => i _; rewrite mulr_ge0 // ltW.
have GPhi i k : 0 <= (G *m Phi) i k by rewrite mxE sumr_ge0 // => l _; rewrite mulr_ge0.
have row i : \sum_k (G *m Phi) i k <= gamma.
  have -> : \sum_k (G *m Phi) i k = \sum_l G i l * \sum_k Phi l k.
    by rewrite (eq_bigr _ (fun k _ => mxE _ _ i k)) exchange_big; apply: eq_bigr => l _; rewrite mulr_sumr.
  apply: le_trans (G_rows i); apply: ler_sum => l _; rewrite -[leRHS]mulr1 ler_wpmul2l //.
have pos k : 0 <= sweep j k.
  by rewrite mxE divr_ge0 ?(ltW m0) // sumr_ge0 // => i _; rewrite mulr_ge0 // mulr_ge0 // ltW.
have -> : \sum_k `|sweep j k| = (\sum_i xi 0 i * Phi i j * \sum_k (G *m Phi) i k) / mass j.
  rewrite mulr_suml [RHS](eq_bigr (fun i => \sum_k xi 0 i * Phi i j * (G *m Phi) i k / mass j)) => [|i _]; last first.
    by rewrite mulr_sumr mulr_suml.
  by rewrite exchange_big; apply: eq_bigr => k _ /=; rewrite (ger0_norm (pos k)) mxE mulr_suml.
rewrite ler_pdivr_mulr // mulr_sumr; apply: ler_sum => i _; rewrite [leRHS]mulrC.
by rewrite ler_wpmul2l // mulr_ge0 // ltW.
Qed.
End Averager.
