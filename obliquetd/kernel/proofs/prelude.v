From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import Ring Field.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.
Import GRing.Theory Num.Theory Order.TTheory.

(* How words are checked. Everything here is proved, by the lemmas below, from mathcomp alone.
   [expand] multiplies out; [linear] compares two sums of matrices coefficient by coefficient;
   [use_step] adds a multiple of an equation that is known. *)

Section Linear.
Variables (F : fieldType) (V : lmodType F).
Inductive lin := At of nat | Zero | Add of lin & lin | Opp of lin | Scale of F & lin.
Fixpoint eval (env : seq V) (e : lin) : V := match e with
 | At i => nth 0 env i | Zero => 0 | Add a b => eval env a + eval env b
 | Opp a => - eval env a | Scale k a => k *: eval env a end.
Fixpoint coef (e : lin) (i : nat) : F := match e with
 | At j => if Nat.eqb i j then 1 else 0 | Zero => 0 | Add a b => coef a i + coef b i
 | Opp a => - coef a i | Scale k a => k * coef a i end.
Fixpoint total (env : seq V) (i : nat) (e : lin) : V := match env with
 | [::] => 0 | x :: rest => coef e i *: x + total rest i.+1 e end.
Fixpoint zeros (e : lin) (i n : nat) : Prop := match n with
 | O => True | S m => coef e i = 0 /\ zeros e i.+1 m end.
Lemma eqb_eq i j : Nat.eqb i j = (i == j).
Proof. by elim: i j => [|i IH] [|j] //=. Qed.
Lemma total_at env i j : total env i (At j) = if (i <= j)%N then nth 0 env (j - i) else 0.
Proof.
elim: env i => [|x env IH] i /=; first by rewrite nth_nil; case: ifP.
rewrite IH eqb_eq; case: (ltngtP i j) => [lt|gt|->].
- by rewrite scale0r add0r -(subnSK lt).
- by rewrite scale0r addr0.
- by rewrite subnn scale1r addr0.
Qed.
Lemma total0 env i : total env i Zero = 0.
Proof. by elim: env i => //= x env IH i; rewrite IH scale0r addr0. Qed.
Lemma totalD env i a b : total env i (Add a b) = total env i a + total env i b.
Proof. by elim: env i => [|x env IH] i /=; rewrite ?addr0 // IH scalerDl addrACA. Qed.
Lemma totalN env i a : total env i (Opp a) = - total env i a.
Proof. by elim: env i => [|x env IH] i /=; rewrite ?oppr0 // IH scaleNr opprD. Qed.
Lemma totalZ env i k a : total env i (Scale k a) = k *: total env i a.
Proof. by elim: env i => [|x env IH] i /=; rewrite ?scaler0 // IH scalerDr scalerA. Qed.
Lemma eval_total env e : eval env e = total env 0 e.
Proof.
elim: e => [i||a IHa b IHb|a IHa|k a IHa] /=.
- by rewrite total_at subn0.
- by rewrite total0.
- by rewrite totalD IHa IHb.
- by rewrite totalN IHa.
- by rewrite totalZ IHa.
Qed.
Lemma linearly env a b : zeros (Add a (Opp b)) 0 (size env) -> eval env a = eval env b.
Proof.
move=> H; apply: subr0_eq; rewrite -[_ - _]/(eval env (Add a (Opp b))) eval_total.
move: (Add _ _) H => e; elim: env 0%N => [|x env IH] i //= [-> H].
by rewrite scale0r add0r IH.
Qed.
End Linear.

(* The operations of a field under names of their own, which Coq's ring and field recognise. *)
Definition carrier (F : fieldType) : Type := F.
Definition fadd (F : fieldType) (x y : carrier F) : carrier F := (x : F) + y.
Definition fmul (F : fieldType) (x y : carrier F) : carrier F := (x : F) * y.
Definition fopp (F : fieldType) (x : carrier F) : carrier F := - (x : F).
Definition fsub (F : fieldType) (x y : carrier F) : carrier F := (x : F) - y.
Definition finv (F : fieldType) (x : carrier F) : carrier F := (x : F)^-1.
Definition fdiv (F : fieldType) (x y : carrier F) : carrier F := (x : F) / y.
Definition f0 (F : fieldType) : carrier F := (0 : F).
Definition f1 (F : fieldType) : carrier F := (1 : F).
Lemma field_ring (F : fieldType) :
  ring_theory (@f0 F) (@f1 F) (@fadd F) (@fmul F) (@fsub F) (@fopp F) eq.
Proof.
split=> *; rewrite /fadd /fmul /fsub /fopp /f0 /f1 /= ?(add0r, mul1r, addrA, mulrA, subrr, mulrDl) //;
by [rewrite addrC | rewrite mulrC].
Qed.
Lemma field_field (F : fieldType) :
  field_theory (@f0 F) (@f1 F) (@fadd F) (@fmul F) (@fsub F) (@fopp F) (@fdiv F) (@finv F) eq.
Proof.
split=> //; [exact: field_ring | by apply/eqP; rewrite oner_eq0 |].
by move=> x /eqP nz; rewrite /fmul /finv mulVf.
Qed.
Ltac place x env := lazymatch env with ?y :: ?rest => match constr:(tt) with
 | _ => let same := match constr:(tt) with _ => first [constr_eq x y | unify x y] end in constr:(O)
 | _ => let i := place x rest in constr:(S i) end end.
Ltac pick x env := lazymatch env with ?y :: ?rest => match constr:(tt) with
 | _ => let same := match constr:(tt) with _ => first [constr_eq x y | unify x y] end in constr:(y)
 | _ => pick x rest end end.
Ltac leaves t env := lazymatch t with
 | 0 => env | 1 => env
 | ?a + ?b => let more := leaves a env in leaves b more
 | ?a * ?b => let more := leaves a env in leaves b more
 | - ?a => leaves a env
 | ?a^-1 => leaves a env
 | ?x *+ O => env | ?x *+ S _ => leaves x env
 | ?x ^+ O => env | ?x ^+ S _ => leaves x env
 | _ => match constr:(tt) with _ => let y := pick t env in env | _ => constr:(t :: env) end end.
Ltac scalar F t env := lazymatch t with
 | 0 => constr:(@f0 F) | 1 => constr:(@f1 F)
 | ?a + ?b => let x := scalar F a env in let y := scalar F b env in constr:(@fadd F x y)
 | ?a * ?b => let x := scalar F a env in let y := scalar F b env in constr:(@fmul F x y)
 | - ?a => let x := scalar F a env in constr:(@fopp F x)
 | ?a^-1 => let x := scalar F a env in constr:(@finv F x)
 | ?x *+ O => constr:(@f0 F)
 | ?x *+ S O => scalar F x env
 | ?x *+ S ?n => let y := scalar F x env in let z := scalar F (x *+ n) env in constr:(@fadd F y z)
 | ?x ^+ O => constr:(@f1 F)
 | ?x ^+ S O => scalar F x env
 | ?x ^+ S ?n => let y := scalar F x env in let z := scalar F (x ^+ n) env in constr:(@fmul F y z)
 | _ => let y := pick t env in constr:(y : carrier F) end.
Ltac scalars F := match goal with |- @eq ?T ?a ?b =>
  let few := leaves a (@nil T) in let env := leaves b few in
  let x := scalar F a env in let y := scalar F b env in change (x = y) end.
Ltac nonzero := repeat split; try assumption; apply/eqP; assumption.
Ltac by_scalars F := scalars F; first [ring | field; nonzero].

Ltac gather t env := lazymatch t with
 | ?a + ?b => let more := gather a env in gather b more
 | - ?a => gather a env
 | _ *: ?a => gather a env
 | 0 => env
 | _ => match constr:(tt) with _ => let i := place t env in env | _ => constr:(t :: env) end end.
Ltac reify F t env := lazymatch t with
 | ?a + ?b => let x := reify F a env in let y := reify F b env in constr:(@Add F x y)
 | - ?a => let x := reify F a env in constr:(@Opp F x)
 | ?k *: ?a => let x := reify F a env in constr:(@Scale F k x)
 | 0 => constr:(@Zero F)
 | _ => let i := place t env in constr:(@At F i) end.
Ltac linear F := match goal with |- @eq ?T ?a ?b =>
  let few := gather a (@nil T) in let env := gather b few in
  let x := reify F a env in let y := reify F b env in
  apply: (@linearly _ _ env x y); cbn [zeros coef size Nat.eqb]; repeat split; by_scalars F end.

Section Transposed.
Variables (F : fieldType) (m n : nat).
Implicit Types A B : 'M[F]_(m, n).
Lemma trD A B : (A + B)^T = A^T + B^T. Proof. exact: linearD. Qed.
Lemma trN A : (- A)^T = - A^T. Proof. exact: linearN. Qed.
Lemma trZ k A : (k *: A)^T = k *: A^T. Proof. exact: linearZ. Qed.
Lemma tr0 : (0 : 'M[F]_(m, n))^T = 0. Proof. exact: linear0. Qed.
End Transposed.
Ltac expand := rewrite ?(trD, trN, trZ, tr0, trmx_mul, trmxK, trmx1, mulmxDl, mulmxDr, mulmxN,
  mulNmx, mul1mx, mulmx1, mul0mx, mulmx0, =^~ scalemxAl, =^~ scalemxAr, =^~ mulmxA).

Section Steps.
Variables (F : fieldType) (m n p q : nat).
Lemma use_step (k : F) (a b x y : 'M[F]_(m, n)) : a = b -> x = y + k *: (a - b) -> x = y.
Proof. by move=> ->; rewrite subrr scaler0 addr0. Qed.
Lemma between (U : 'M[F]_(m, n)) (a b : 'M[F]_(n, p)) (W : 'M[F]_(p, q)) :
  a = b -> U *m a *m W = U *m b *m W.
Proof. by move->. Qed.
Lemma after (U : 'M[F]_(m, n)) (a b : 'M[F]_(n, p)) : a = b -> U *m a = U *m b.
Proof. by move->. Qed.
Lemma before (a b : 'M[F]_(m, n)) (W : 'M[F]_(n, p)) : a = b -> a *m W = b *m W.
Proof. by move->. Qed.
End Steps.
Arguments use_step {F m n} k {a b x y} _ _.
Arguments between {F m n p q} U {a b} W _.
Arguments after {F m n p} U {a b} _.
Arguments before {F m n p} {a b} W _.
