(* Steps 1 to 6 for one head c u v0^T + B: earlier examples S saturate as c grows, the group G does not move with c. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer families hyperplanes exponential limit placement.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Logits are linear in the head. *)
Section Logits.
Variables (A : comRingType) (n d : nat) (E : 'M[A]_(n, d)) (e : 'rV[A]_d).
Lemma logitsD M N i : logits E e (M + N) i = logits E e M i + logits E e N i.
Proof. by rewrite /logits mulmxDr mulmxDl mxE. Qed.
Lemma logitsZ k M i : logits E e (k *: M) i = k * logits E e M i.
Proof. by rewrite /logits -scalemxAr -scalemxAl mxE. Qed.
Lemma logits_sum (J : Type) (r : seq J) (p : pred J) (M : J -> 'M[A]_d) i :
  logits E e (\sum_(j <- r | p j) M j) i = \sum_(j <- r | p j) logits E e (M j) i.
Proof. by rewrite /logits mulmx_sumr mulmx_suml summxE. Qed.
(* The head u v^T gives token i the logit (E u)_i (e v). *)
Lemma logits_dyad (u v : 'cV[A]_d) i : logits E e (u *m v^T) i = (E *m u) i 0 * (e *m v) 0 0.
Proof. by rewrite /logits mulmxA -mulmxA -trmx_mul mxE big_ord1 [_^T _ _]mxE. Qed.
End Logits.

Section Head.
Variable X : exponential.
Local Notation A := (logit_ring X).
Local Notation F := (feature_field X).
Local Notation ex := (@ex X).
Local Notation embm := (map_mx (emb X)).

Lemma embm_inj m k : injective (embm : 'M[A]_(m, k) -> 'M[F]_(m, k)).
Proof. by move=> M N /matrixP MN; apply/matrixP => i j; have := MN i j; rewrite !mxE => /emb_inj. Qed.
Lemma emb_gt0_neq0 f : 0 < f -> emb X f != 0.
Proof. by move=> f0; rewrite -(rmorph0 (emb X)) (inj_eq (@emb_inj X)) gt_eqF. Qed.
Lemma embm_intr m k (w : 'M[int]_(m, k)) : embm (map_mx intr w) = map_mx intr w.
Proof. by apply/matrixP => i j; rewrite !mxE rmorph_int. Qed.

(* The feature of the head M at example t. *)
Definition feature (I : Type) n d (E : I -> 'M[A]_(n, d)) (e : I -> 'rV[A]_d) (M : 'M[A]_d) t : 'rV[F]_d :=
  attend ex (embm (E t)) (logits (E t) (e t) M).

Variables (n' d : nat) (I : eqType).
Local Notation n := n'.+1.
Variables (E : I -> 'M[A]_(n, d)) (e : I -> 'rV[A]_d).
Implicit Types (S G : seq I).

Definition separates (u : 'cV[A]_d) t := injective (fun i => (E t *m u) i 0).

(* Step 1: a separator avoids the hyperplanes (E_i - E_j) x = 0. *)
Lemma separator S : (forall t, t \in S -> row_free (embm (E t))) -> exists u, forall t, t \in S -> separates u t.
Proof.
move=> freeE; pose pairs := enum [pred ij : 'I_n * 'I_n | ij.1 != ij.2].
pose vs := [seq row ij.1 (embm (E t)) - row ij.2 (embm (E t)) | t <- S, ij <- pairs].
have /avoid_hyperplanes [w /allP Hw] : all (fun v => v != 0) vs.
  apply/allP => v /allpairsP [[t ij] /= [tS]]; rewrite mem_enum /= => neq ->.
  by apply: rows_distinct => //; apply: freeE.
exists (map_mx intr w) => t tS i j Eij; apply/eqP; apply: contraT => neq.
have /Hw : row i (embm (E t)) - row j (embm (E t)) \in vs.
  by apply/allpairsP; exists (t, (i, j)); split=> //=; rewrite mem_enum.
rewrite mulmxBl -!row_mul -embm_intr -map_mxM; move: (E t *m _) Eij => B Bij; case/eqP.
by apply/matrixP => k l; rewrite !mxE !ord1 /= Bij subrr.
Qed.

(* Step 2: a selector v0 is 0 at the queries of the group and at no earlier one. With C a matrix whose columns span the
   complement of the group's queries, it is C w, where w avoids the hyperplanes (e_s C) x = 0. *)
Lemma selector S G : (forall s, s \in S -> embm (e s) \notin <<[seq embm (e t) | t <- G]>>%VS) ->
  exists v0 : 'cV[A]_d, (forall t, t \in G -> (e t *m v0) 0 0 = 0) /\ (forall s, s \in S -> (e s *m v0) 0 0 != 0).
Proof.
move=> notin; pose C := cokermx (rows_of G (fun t => embm (e t))).
have /avoid_hyperplanes [w /allP Hw] : all (fun v => v != 0) [seq embm (e s) *m C | s <- S].
  apply/allP => _ /mapP [s sS ->]; apply: contra (notin s sS); rewrite -submxE.
  exact: submx_span.
have [f [v0 [f0 v0E]]] := clear_denominators (C *m map_mx intr w).
exists v0; split=> [t tG | s sS].
  suff -> : e t *m v0 = 0 by rewrite mxE.
  apply: embm_inj; rewrite map_mx0 map_mxM v0E -scalemxAr mulmxA.
  suff -> : embm (e t) *m C = 0 by rewrite mul0mx scaler0.
  apply/eqP; rewrite -submxE; have [i ->] := row_rows_of (fun t => embm (e t)) tG.
  exact: row_sub.
have /Hw : embm (e s) *m C \in [seq embm (e s) *m C | s <- S] by apply: map_f.
apply: contraNneq => e0; rewrite -mulmxA.
have : embm (e s *m v0) = 0 by apply/matrixP => i j; rewrite !ord1 [LHS]mxE e0 rmorph0 mxE.
by rewrite map_mxM v0E -scalemxAr => /eqP; rewrite scalemx_eq0 (negPf (emb_gt0_neq0 f0)).
Qed.

(* Step 5: the queries of the group are independent, so they have a dual family, up to one factor f. *)
Lemma duals G : free [seq embm (e t) | t <- G] ->
  exists f (D : I -> 'cV[A]_d), 0 < f /\ {in G &, forall t r, (e t *m D r) 0 0 = f *+ (t == r)}.
Proof.
rewrite free_rows_of; set Q := rows_of _ _ => freeQ.
have [f [B [f0 BE]]] := clear_denominators (pinvmx Q).
pose column t := if insub (index t G) is Some i then col i B else 0.
have QB : Q *m embm B = (emb X f)%:M by rewrite BE -scalemxAr mulmxVp // scalemx1.
exists f, column; split=> // t r tG rG; rewrite -!index_mem in tG rG.
rewrite /column insubT /=; apply: (@emb_inj X).
have -> : emb X ((e t *m col (Ordinal rG) B) 0 0) = (Q *m embm B) (Ordinal tG) (Ordinal rG).
  rewrite !mxE rmorph_sum /=; apply: eq_bigr => j _; rewrite !mxE rmorphM /=; congr (emb X (_ _ _) * _).
  by rewrite (tnth_nth t) /= nth_index // -index_mem.
rewrite QB !mxE -val_eqE /= rmorphMn /=; congr (_ *+ nat_of_bool _).
by apply/eqP/eqP => [tr|->//]; rewrite !index_mem in tG rG; rewrite -(nth_index t tG) tr nth_index.
Qed.

(* Steps 3, 4 and 6. Each member t of the group has n candidates for its logits, with independent features. They can be
   chosen so that every head c u v0^T + B that gives the group those logits has, for some c, independent rows on G and S. *)
Lemma one_head b (z : I -> 'rV[F]_b) S G (candidate : I -> nat -> 'I_n -> A) (u v0 : 'cV[A]_d) :
  (forall s, s \in S -> separates u s) ->
  (forall t, t \in G -> (e t *m v0) 0 0 = 0) -> (forall s, s \in S -> (e s *m v0) 0 0 != 0) ->
  (forall t, t \in G -> free [seq attend ex (embm (E t)) (candidate t k) | k <- iota 0 n]) ->
  free [seq z s | s <- S] -> uniq G -> (size G <= n - (S != [::]))%N ->
  exists alpha : I -> nat, (forall t, t \in G -> (alpha t < n)%N) /\
    forall B, (forall t, t \in G -> logits (E t) (e t) B =1 candidate t (alpha t)) ->
    exists c : nat, free [seq row_mx (feature E e ((u *m v0^T) *+ c + B) t) (z t) | t <- G ++ S].
Proof.
move=> sep v0G v0S freeX freeS uG sizeG.
pose a t i := (E t *m u) i 0 * (e t *m v0) 0 0.
pose top t := [arg max_(i > ord0) a t i]%O : 'I_n.
pose Y t k := attend ex (embm (E t)) (candidate t k).
pose L s := row (top s) (embm (E s)).
have [alpha [alpha_n free0]] := place_group L freeS uG freeX sizeG.
exists alpha; split=> // B Bcand; pose bb t := logits (E t) (e t) B.
have headE c t : logits (E t) (e t) ((u *m v0^T) *+ c + B) =1 (fun i => a t i *+ c + bb t i).
  by move=> i; rewrite logitsD -scaler_nat logitsZ mulr_natl logits_dyad.
have attend_ext t l l' : l =1 l' -> attend ex (embm (E t)) l = attend ex (embm (E t)) l'.
  move=> ll; apply: eq_bigr => i _; rewrite /softmax ll; congr (_ / _ *: _).
  by apply: eq_bigr => j _; rewrite ll.
have apart t : t \in S -> t \notin G by move=> /v0S; apply: contraNN => /v0G ->.
pose limit t := if t \in G then row_mx (Y t (alpha t)) (z t) else row_mx (L t) (z t).
apply: (@free_limit _ _ _ _ _ limit); last first.
  rewrite map_cat; move: free0; congr (free (_ ++ _)); apply/eq_in_map => t tI; rewrite /limit ?tI //.
  by rewrite (negPf (apart t tI)).
move=> t j; rewrite mem_cat /limit; case: ifP => [tG _ | _ /= tS].
  apply: vanishes_ext (vanishes0 F) => c; apply/esym/eqP; rewrite subr_eq0; apply/eqP.
  congr (row_mx _ _ 0 j); apply: attend_ext => i.
  by rewrite headE /a v0G // mulr0 mul0rn add0r; apply: Bcand.
have top_max i : i != top t -> a t i < a t (top t).
  move=> ni; have le : a t i <= a t (top t) by rewrite /top; case: arg_maxP => // k _; apply.
  rewrite lt_neqAle le andbT; apply: contraNneq ni => aE; apply/eqP.
  by apply: (sep t tS); apply: (mulIf (v0S t tS)) aE.
case: (split_ordP j) => k ->; last by apply: vanishes_ext (vanishes0 F) => c; rewrite !row_mxEr subrr.
pose w c := softmax ex (fun i => a t i *+ c + bb t i).
apply: (@vanishes_ext _ (fun c => \sum_i (w c i - (i == top t)%:R) * embm (E t) i k)).
  move=> c; rewrite !row_mxEl /feature (attend_ext _ _ _ (headE c t)) /attend summxE.
  under eq_bigr => i _ do rewrite mulrBl.
  rewrite sumrB; congr (_ - _); first by apply: eq_bigr => i _; rewrite !mxE.
  rewrite (bigD1 (top t)) //= eqxx mul1r big1 ?addr0 ?mxE // => i ni.
  by rewrite (negPf ni) mul0r.
by apply: vanishes_sum => i _; apply: vanishesM; apply: saturation.
Qed.
End Head.
