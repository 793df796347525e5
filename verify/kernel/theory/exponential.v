(* What the proof asks of its numbers, so that it is written once and holds over the rational numbers (integer
   logits, base 2) and over the real numbers (true exponential). *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Structure exponential := Exponential {
  logit_ring : realDomainType;                     (* data, weights and logits: Z or R *)
  feature_field : archiFieldType;                  (* features: Q or R *)
  emb : {rmorphism logit_ring -> feature_field};
  ex : logit_ring -> feature_field;
  exD : forall x y, ex (x + y) = ex x * ex y;
  ex_gt0 : forall x, 0 < ex x;
  ex_gt1 : forall x, 0 < x -> 1 < ex x;
  ex_decay : forall mu, 0 < mu -> exists C, forall c : nat, ex (- (mu *+ c)) * c%:R <= C;
  emb_inj : injective emb;
  (* a matrix of features times some f > 0 is one of data: over Q the common denominator *)
  clear_denominators : forall m k (M : 'M[feature_field]_(m, k)),
    exists (f : logit_ring) (B : 'M[logit_ring]_(m, k)), 0 < f /\ map_mx emb B = emb f *: M }.

Section Exponential.
Variable X : exponential.
Local Notation A := (logit_ring X).
Local Notation F := (feature_field X).
Local Notation ex := (@ex X).
Implicit Types (x y : A).

Lemma ex_neq0 x : ex x != 0. Proof. by rewrite gt_eqF // ex_gt0. Qed.
Lemma ex0 : ex 0 = 1. Proof. by apply: (mulfI (ex_neq0 0)); rewrite -exD addr0 mulr1. Qed.
Lemma exMn x k : ex (x *+ k) = ex x ^+ k.
Proof. by elim: k => [|k IH]; rewrite ?mulr0n ?ex0 // mulrS exprS exD IH. Qed.
Lemma ex_lt x y : x < y -> ex x < ex y.
Proof. by move=> xy; rewrite -[y](subrK x) exD -[X in X < _]mul1r ltr_pmul2r ?ex_gt0 // ex_gt1 // subr_gt0. Qed.
Lemma ex_inj : injective ex.
Proof.
move=> x y exy; apply/eqP; rewrite eq_le !leNgt.
by apply/andP; split; apply/negP => /ex_lt; rewrite exy ltxx.
Qed.

Lemma sum_ex_gt0 n (l : 'I_n -> A) (i0 : 'I_n) : 0 < \sum_j ex (l j).
Proof.
rewrite (bigD1 i0) //=; apply: ltr_paddr; last exact: ex_gt0.
by apply: sumr_ge0 => j _; apply/ltW/ex_gt0.
Qed.
Lemma sum_ex_neq0 n (l : 'I_n -> A) (i0 : 'I_n) : \sum_j ex (l j) != 0.
Proof. by rewrite gt_eqF // (sum_ex_gt0 l i0). Qed.
End Exponential.
