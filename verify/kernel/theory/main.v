From mathcomp Require Import all_ssreflect all_algebra.
Require Import lemmas choice layer step.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* The T x (H d) matrix of features: row t is the H x d matrix of the z^h_t, flattened. *)
Definition features n d T H (E : 'I_T -> 'M[int]_(n, d)) (e : 'I_T -> 'rV[int]_d)
    (u v : 'I_H -> 'cV[int]_d) : 'M[rat]_(T, H * d) :=
  \matrix_t mxvec (\matrix_h feature (E t) (e t) (u h) (v h)).

Section Induction.
Variables (n' d : nat) (I : finType).
Local Notation n := n'.+1.
Variables (E : I -> 'M[int]_(n, d)) (e : I -> 'rV[int]_d) (grp : I -> nat).
Local Notation q t := (ratm (e t)).
Local Notation group h := [seq t <- enum I | grp t == h].
Local Notation below h := [seq t <- enum I | (grp t < h)%N].

Fixpoint feats (u v : nat -> 'cV[int]_d) (k : nat) (t : I) : 'rV[rat]_(k * d) :=
  if k is k'.+1 then row_mx (feature (E t) (e t) (u k') (v k')) (feats u v k' t) else 0.

Lemma feats_ext u v u' v' k t :
  (forall j, (j < k)%N -> u j = u' j) -> (forall j, (j < k)%N -> v j = v' j) ->
  feats u v k t = feats u' v' k t.
Proof.
elim: k => //= k IH Hu Hv; rewrite Hu // Hv // IH // => j jk; first exact/Hu/ltnW.
exact/Hv/ltnW.
Qed.

Lemma feats_zero u v k (c : I -> rat) (xs : seq I) :
  (forall j, (j < k)%N -> \sum_(t <- xs) c t *: feature (E t) (e t) (u j) (v j) = 0) ->
  \sum_(t <- xs) c t *: feats u v k t = 0.
Proof.
elim: k => [|k IH] H; first by apply/rowP => -[].
have -> : \sum_(t <- xs) c t *: feats u v k.+1 t =
   row_mx (\sum_(t <- xs) c t *: feature (E t) (e t) (u k) (v k)) (\sum_(t <- xs) c t *: feats u v k t).
  elim: xs {H IH} => [|x xs IH]; first by rewrite !big_nil row_mx0.
  by rewrite !big_cons IH /= scale_row_mx add_row_mx.
by rewrite H // IH ?row_mx0 // => j jk; apply/H/ltnW.
Qed.

Hypothesis freeE : forall t, row_free (ratm (E t)).
Hypothesis size_group : forall h, (size (group h) <= n - (0 < h))%N.
Hypothesis free_group : forall h, free [seq q t | t <- group h].
Hypothesis outside : forall h s, (grp s < h)%N -> q s \notin <<[seq q t | t <- group h]>>%VS.

Lemma placed k : exists u v, free [seq feats u v k t | t <- below k].
Proof.
elim: k => [|k [u [v IH]]].
  by exists (fun => 0), (fun => 0); rewrite (eq_filter (a2 := pred0)) ?filter_pred0 ?nil_free.
have sizeG : (size (group k) <= n - (below k != [::]))%N.
  apply: leq_trans (size_group k) _; apply: leq_sub2l.
  case: k {IH} => [|k] //=; last by case: (_ != _).
  by rewrite (eq_filter (a2 := pred0)) ?filter_pred0.
have [||uk [vk free1]] := @step _ _ _ E e _ (feats u v k) (below k) (group k) _ IH (free_group k) _ sizeG.
- by move=> t _; apply: freeE.
- by move=> s; rewrite mem_filter => /andP [sk _]; apply: outside.
exists (fun j => if j == k then uk else u j), (fun j => if j == k then vk else v j).
have perm : perm_eq (below k.+1) (group k ++ below k).
  apply: uniq_perm => [||t]; first by rewrite filter_uniq // enum_uniq.
    rewrite cat_uniq; apply/and3P; split.
    - by rewrite filter_uniq // enum_uniq.
    - apply/hasPn => t /=.
      by rewrite !mem_filter => /andP [tk _]; rewrite ltn_eqF.
    - by rewrite filter_uniq // enum_uniq.
  by rewrite mem_cat !mem_filter -andb_orl ltnS leq_eqVlt.
rewrite (perm_free (perm_map _ perm)); apply: etrans free1; congr free; apply: eq_map => t /=.
by rewrite eqxx; congr (row_mx _ _); apply: feats_ext => j jk; rewrite ltn_eqF.
Qed.

End Induction.

Theorem width_one n d T H (E : 'I_T -> 'M[int]_(n, d)) (e : 'I_T -> 'rV[int]_d) (grp : 'I_T -> 'I_H) :
  (* A2 *) (forall t, row_free (ratm (E t))) ->
  (* P  *) (forall h : 'I_H, (#|[set t | grp t == h]| <= n - (0 < h))%N) ->
           (forall h : 'I_H, free [seq ratm (e t) | t <- enum 'I_T & grp t == h]) ->
           (forall (h : 'I_H) s, (grp s < h)%N ->
              ratm (e s) \notin <<[seq ratm (e t) | t <- enum 'I_T & grp t == h]>>%VS) ->
  exists u v : 'I_H -> 'cV[int]_d, \rank (features E e u v) = T.
Proof.
move=> freeE sizeG freeG outG.
case: n E freeE sizeG => [|n'] E freeE sizeG.
  exists (fun => 0), (fun => 0).
  case: T E e grp freeE freeG outG sizeG => [|T] E e grp _ _ _ sizeG.
    by apply/eqP; rewrite -leqn0 rank_leq_row.
  have := sizeG (grp ord0); rewrite leqn0 => /eqP /cards0_eq /setP /(_ ord0).
  by rewrite !inE eqxx.
have groupE h : [seq t <- enum 'I_T | (grp t : nat) == h] =
    if insub h is Some h' then [seq t <- enum 'I_T | grp t == h' :> 'I_H] else [::].
  case: insubP => [h' _ <- |]; first by apply: eq_filter => t.
  rewrite -leqNgt => Hh; rewrite (eq_filter (a2 := pred0)) ?filter_pred0 // => t /=.
  by rewrite ltn_eqF // (leq_trans (ltn_ord _) Hh).
have [|||| u [v]] := @placed n' d [finType of 'I_T] E e (fun t => grp t) _ _ _ _ H.
- exact: freeE.
- move=> h; rewrite groupE; case: insubP => [h' _ <-|//].
  apply: leq_trans (sizeG h'); rewrite -sum1_size big_filter big_enum_cond -sum1_card.
  by rewrite leq_eqVlt; apply/orP; left; apply/eqP/eq_bigl => t; rewrite inE.
- by move=> h; rewrite groupE; case: insubP => [h' _ _|_]; [apply: freeG | apply: nil_free].
- move=> h s sh; rewrite groupE; case: insubP => [h' _ hh|_]; first by apply: outG; rewrite hh.
  rewrite span_nil memv0.
  by apply: free_not0 (freeG (grp s)) _; apply/mapP; exists s; rewrite // mem_filter eqxx mem_enum.
move=> free_all; exists (fun h => u h), (fun h => v h).
suff : row_free (features E e (fun h : 'I_H => u h) (fun h => v h)) by move/eqP.
apply: inj_row_free => c cZ.
have {}free_all : free [seq feats E e u v H t | t <- enum 'I_T].
  by move: free_all; rewrite (eq_filter (a2 := predT)) ?filter_predT // => t /=; rewrite ltn_ord.
have szT : size (enum 'I_T) = T by rewrite size_enum_ord.
have /(@freeP _ _ _ [tuple feats E e u v H t | t < T]) fr := free_all.
apply/rowP => t; rewrite mxE; apply: (fr (fun t => c 0 t)).
have -> : \sum_i c 0 i *: [tuple feats E e u v H t | t < T]`_i =
          \sum_(i <- enum 'I_T) c 0 i *: feats E e u v H i.
  by rewrite big_enum; apply: eq_bigr => i _; rewrite -tnth_nth tnth_mktuple.
apply: feats_zero => j jH; rewrite big_enum /=.
apply/rowP => a; move/rowP/(_ (mxvec_index (Ordinal jH) a)): cZ.
rewrite !mxE summxE => cZ; rewrite -[RHS]cZ; apply: eq_bigr => i _.
by rewrite !mxE mxvecE mxE.
Qed.

