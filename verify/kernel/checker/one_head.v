(* The theorem of width one for one head, in the words of Spec.v: on at most n examples with contexts of n independent rows
   and independent queries some head of width one has independent features. *)
From Coq Require Import Reals Permutation.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import Rstruct.
Require layer families.
Require Spec open_map general_position layer_slopes pairs memorizes own_reals.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Import open_map memorizes.
Local Open Scope ring_scope.

Section OneHead.
Variables (w n d : nat) (E : nat -> nat -> nat -> R) (e : nat -> nat -> R).

(* Independent rows, in the words of MathComp. *)
Lemma independent_free N M (X : nat -> nat -> R) : independent_rows N M X -> row_free (\matrix_(i < N, k < M) X i k).
Proof.
move=> I; apply: inj_row_free => c cX; apply/rowP => i; rewrite [RHS]mxE -(entryE c 0 i).
apply: (I (entry c 0)); last exact/ltP.
move=> k /ltP kM; rewrite sum_big; move/rowP/(_ (Ordinal kM)): cX; rewrite !mxE => cX.
by rewrite -[RHS]cX; apply: eq_bigr => j _; rewrite (entryE c 0 j) !mxE.
Qed.

Theorem one_head : (w <= n)%coq_nat -> independent_rows w d e -> (forall t, (t < w)%coq_nat -> independent_rows n d (E t)) ->
  exists k0 q0, independent_rows w d (fun t => layer_slopes.rz n d 1 (E t) (e t) (fun a _ => k0 a) (fun a _ => q0 a)).
Proof.
move=> /leP wn Ie IE.
pose Em (t : 'I_w) : 'M[R]_(n, d) := \matrix_(i, a) E t i a; pose em (t : 'I_w) : 'rV[R]_d := \row_a e t a.
have A2 : layer.A2 Em by move=> t; apply: independent_free; apply/IE/ltP.
have P : layer.P n em (fun=> ord0 : 'I_1).
  split=> [h|h|h s]; last by rewrite (ord1 h).
    by rewrite (ord1 h) subn0; apply: leq_trans wn; apply: leq_trans (max_card _) _; rewrite card_ord.
  rewrite /layer.queries (ord1 h) (eq_filter (a2 := predT)) // filter_predT families.free_rows_of.
  have -> : families.rows_of (enum 'I_w) em = \matrix_(i < size (enum 'I_w), k < d) e i k.
    apply/matrixP => i k; rewrite !mxE (tnth_nth (tnth (in_tuple (enum 'I_w)) i)) /=.
    by rewrite -(nth_map _ 0%N val) // val_enum_ord nth_iota // -[X in (_ < X)%N](size_enum_ord w).
  by rewrite size_enum_ord; apply: independent_free.
have [K [Q met]] := own_reals.width_one_in_words A2 P.
exists (fun a => K 0%N a 0%N), (fun a => Rmult (Rpower.ln (IZR 2)) (Q 0%N a 0%N)).
pose E' t := if insub t is Some t then entry (Em t) else E t; pose e' t := if insub t is Some t then entry (em t) 0 else e t.
apply: (@pairs.met_independent w n d K Q E E' e e') => [t i a /ltP tw /ltP ni /ltP ad|t a /ltP tw /ltP ad|y].
- by rewrite /E' insubT (entryE (Em _) (Ordinal ni) (Ordinal ad)) mxE.
- by rewrite /e' insubT (entryE (em _) 0 (Ordinal ad)) mxE.
have [V [O out]] := met 1%N 1%N (fun t _ => y t) (leqnn 1); exists V, O => t /ltP tw.
by rewrite /E' /e' insubT; apply: (out (Ordinal tw)).
Qed.
End OneHead.
