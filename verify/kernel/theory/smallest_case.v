(* The hypotheses can be met: the smallest case of docs/width-one.md, n = d = T = 2 and one head. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer rational.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Lemma smallest_case : rational_heads 1 1 (fun _ : 'I_2 => 1%:M : 'M[rat]_2) (fun t => delta_mx 0 t).
Proof.
apply: (@width_one_rational 2 2 2 1 _ _ (fun _ => ord0)); first by move=> t; rewrite row_free_unit unitmx1.
split=> [h|h|h s]; last by rewrite (ord1 h).
  by rewrite (ord1 h) subn0; apply: leq_trans (max_card _) _; rewrite card_ord.
rewrite /queries (eq_filter (a2 := predT)) ?filter_predT => [|t]; last by rewrite (ord1 h).
apply/(@freeP _ _ _ [tuple delta_mx 0 t | t < 2]) => k k0 i.
move/rowP/(_ i): k0; rewrite summxE mxE (bigD1 i) //= => k0.
rewrite -[RHS]k0 [X in _ = _ + X]big1 => [|j ji].
  by rewrite addr0 (nth_map i) ?size_enum_ord // nth_ord_enum !mxE !eqxx mulr1.
by rewrite (nth_map i) ?size_enum_ord // nth_ord_enum !mxE eqxx [i == j]eq_sym (negPf ji) mulr0.
Qed.
