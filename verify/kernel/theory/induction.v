(* Section 3, the induction over the heads: I(h) says that the rows [z^1_t ... z^h_t] of the examples placed by the first
   h heads are independent. It is carried out for heads of any kind, given the step for one head. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Induction.
Variables (F : fieldType) (r d dq T H : nat) (W : Type) (w0 : W).
Local Notation I := 'I_T.
Variables (feature : W -> I -> 'rV[F]_d) (q : I -> 'rV[F]_dq) (group : I -> 'I_H).
Local Notation members h := [seq t <- enum 'I_T | (group t : nat) == h].
Local Notation below h := [seq t <- enum 'I_T | (group t < h)%N].

(* The row [z^k_t ... z^1_t], newest head first. *)
Fixpoint row_of_heads (w : nat -> W) (k : nat) (t : I) : 'rV[F]_(k * d) :=
  if k is k'.+1 then row_mx (feature (w k') t) (row_of_heads w k' t) else 0.

Lemma row_of_heads_ext w w' k t : (forall j, (j < k)%N -> w j = w' j) -> row_of_heads w k t = row_of_heads w' k t.
Proof. by elim: k => //= k IH Hw; rewrite Hw // IH // => j jk; apply/Hw/ltnW. Qed.

Lemma row_of_heads_dependent w k (c : I -> F) (xs : seq I) :
  (forall j, (j < k)%N -> \sum_(t <- xs) c t *: feature (w j) t = 0) ->
  \sum_(t <- xs) c t *: row_of_heads w k t = 0.
Proof.
elim: k => [|k IH] Hk; first by apply/rowP => -[].
have -> : \sum_(t <- xs) c t *: row_of_heads w k.+1 t =
   row_mx (\sum_(t <- xs) c t *: feature (w k) t) (\sum_(t <- xs) c t *: row_of_heads w k t).
  elim: xs {Hk IH} => [|x xs IH]; first by rewrite !big_nil row_mx0.
  by rewrite !big_cons IH /= scale_row_mx add_row_mx.
by rewrite Hk // IH ?row_mx0 // => j jk; apply/Hk/ltnW.
Qed.

(* The step: whatever rows z the earlier examples S have, if they are independent, a group G that keeps to P next to S
   can be placed by one head. *)
Hypothesis step : forall b (z : I -> 'rV[F]_b) (S G : seq I),
  free [seq z s | s <- S] -> free [seq q t | t <- G] ->
  (forall s, s \in S -> q s \notin <<[seq q t | t <- G]>>%VS) ->
  (size G <= r - (S != [::]))%N ->
  exists w : W, free [seq row_mx (feature w t) (z t) | t <- G ++ S].
Hypothesis partition : P r q group.

Lemma members_queries (h : 'I_H) : [seq q t | t <- members h] = queries q group h.
Proof. by congr map; apply: eq_filter. Qed.

Lemma size_members (h : 'I_H) : (size (members h) <= r - (below h != [::]))%N.
Proof.
have -> : size (members h) = #|[set t | group t == h]|.
  by rewrite -sum1_size big_filter big_enum_cond -sum1_card; apply: eq_bigl => t; rewrite inE.
have [sizes _ _] := partition; apply: leq_trans (sizes h) _; apply: leq_sub2l.
case: h => -[|k] hk //=; last by case: (_ != _).
by rewrite (eq_filter (a2 := pred0)) ?filter_pred0.
Qed.

Lemma below_succ k : perm_eq (below k.+1) (members k ++ below k).
Proof.
apply: uniq_perm => [||t]; first by rewrite filter_uniq // enum_uniq.
  rewrite cat_uniq; apply/and3P; split; try by rewrite filter_uniq // enum_uniq.
  by apply/hasPn => t /=; rewrite !mem_filter => /andP [tk _]; rewrite ltn_eqF.
by rewrite mem_cat !mem_filter -andb_orl ltnS leq_eqVlt.
Qed.

(* I(k), for every k. *)
Lemma placed k : (k <= H)%N -> exists w, free [seq row_of_heads w k t | t <- below k].
Proof.
elim: k => [|k IHk] kH.
  by exists (fun => w0); rewrite (eq_filter (a2 := pred0)) ?filter_pred0 ?nil_free.
have [w IH] := IHk (ltnW kH); pose h := Ordinal kH.
have [_ independent outside] := partition.
have [||wk free1] := @step _ (row_of_heads w k) (below k) (members k) IH _ _ (size_members h).
- by rewrite (members_queries h); apply: independent.
- by move=> s; rewrite mem_filter (members_queries h) => /andP [sk _]; apply: outside.
exists (fun j => if j == k then wk else w j).
rewrite (perm_free (perm_map _ (below_succ k))); apply: etrans free1; congr free; apply: eq_map => t /=.
by rewrite eqxx; congr (row_mx _ _); apply: row_of_heads_ext => j jk; rewrite ltn_eqF.
Qed.

(* I(H) says that Z has rank T. *)
Theorem all_placed : exists w : 'I_H -> W, row_free (feature_matrix (fun t h => feature (w h) t)).
Proof.
have [w free_all] := placed (leqnn H); exists (fun h => w h).
apply: inj_row_free => c cZ.
have {}free_all : free [seq row_of_heads w H t | t <- enum 'I_T].
  by move: free_all; rewrite (eq_filter (a2 := predT)) ?filter_predT // => t /=; rewrite ltn_ord.
have /(@freeP _ _ _ [tuple row_of_heads w H t | t < T]) fr := free_all.
apply/rowP => t; rewrite mxE; apply: (fr (fun t => c 0 t)).
have -> : \sum_i c 0 i *: [tuple row_of_heads w H t | t < T]`_i = \sum_(i <- enum 'I_T) c 0 i *: row_of_heads w H i.
  by rewrite big_enum; apply: eq_bigr => i _; rewrite -tnth_nth tnth_mktuple.
apply: row_of_heads_dependent => j jH; rewrite big_enum /=.
apply/rowP => a; move/rowP/(_ (mxvec_index (Ordinal jH) a)): cZ.
rewrite !mxE summxE => cZ; rewrite -[RHS]cZ; apply: eq_bigr => i _.
by rewrite !mxE mxvecE mxE.
Qed.
End Induction.
