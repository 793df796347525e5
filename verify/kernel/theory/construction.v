(* The two constructions, each as the step of the induction: heads of width one (docs/width-one.md, section 3) and the
   paper's steering heads (docs/mathematics.md, sections 2 to 4). *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer families exponential placement candidates head induction.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* W_K W_Q^T for given columns k_j of W_K and q_j of W_Q: at most dh pairs, the other columns 0. *)
Lemma dyads (A : comRingType) d dh (kq : seq ('cV[A]_d * 'cV[A]_d)) : (size kq <= dh)%N ->
  exists WK WQ : 'M[A]_(d, dh), WK *m WQ^T = \sum_(x <- kq) x.1 *m x.2^T.
Proof.
move=> size_kq; exists (\matrix_(i, j) (nth (0, 0) kq j).1 i 0), (\matrix_(i, j) (nth (0, 0) kq j).2 i 0).
apply/matrixP => i k; rewrite mxE summxE (big_nth (0, 0)) big_mkord.
rewrite (big_ord_widen_cond _ predT (fun j => ((nth (0, 0) kq j).1 *m (nth (0, 0) kq j).2^T) i k) size_kq).
rewrite [RHS]big_mkcond; apply: eq_bigr => j _; rewrite !mxE /=; case: ltnP => [_|out].
  by rewrite big_ord1 mxE.
by rewrite nth_default // mxE mul0r.
Qed.

Section Construction.
Variable X : exponential.
Local Notation A := (logit_ring X).
Local Notation F := (feature_field X).
Local Notation embm := (map_mx (emb X)).
Variables (n' d T : nat).
Local Notation n := n'.+1.
Local Notation I := 'I_T.
Variables (E : I -> 'M[A]_(n, d)) (e : I -> 'rV[A]_d).
Hypothesis A2_holds : A2 (fun t => embm (E t)).
Local Notation q t := (embm (e t)).

(* One head u (c v0 + v1)^T. The candidates for the logits of t in G are alpha f (E_t u), alpha = 0, ..., n-1. *)
Lemma width_one_step b (z : I -> 'rV[F]_b) (S G : seq I) :
  free [seq z s | s <- S] -> free [seq q t | t <- G] ->
  (forall s, s \in S -> q s \notin <<[seq q t | t <- G]>>%VS) ->
  (size G <= n - (S != [::]))%N ->
  exists uv : 'cV[A]_d * 'cV[A]_d, free [seq row_mx (feature E e (uv.1 *m uv.2^T) t) (z t) | t <- G ++ S].
Proof.
move=> freeS freeG outS sizeG.
have [u sep] := separator (fun t (_ : t \in G ++ S) => A2_holds t).
have [v0 [v0G v0S]] := selector outS.
have [f [D [f0 dual]]] := duals freeG.
have uG : uniq G by apply: map_uniq (free_uniq freeG).
pose g t i := (E t *m u) i 0 * f.
have [||alpha [_ enough]] := @one_head X _ _ _ E e b z S G (fun t k i => g t i *+ k) u v0 _ v0G v0S _ freeS uG sizeG.
- by move=> s sS; apply: sep; rewrite mem_cat sS orbT.
- move=> t tG; apply: free_curve => [|i j]; first exact: A2_holds.
  by move/mulIf => /(_ (lt0r_neq0 f0)); apply: sep; rewrite mem_cat tG.
pose v1 := \sum_(r <- G) D r *+ alpha r.
have v1G t : t \in G -> (e t *m v1) 0 0 = f *+ alpha t.
  move=> tG; rewrite mulmx_sumr summxE (bigD1_seq t) //= big_seq_cond big1 ?addr0 => [|r /andP [rG rt]].
    by rewrite -scaler_nat -scalemxAr mxE dual // eqxx mulr_natl.
  by rewrite -scaler_nat -scalemxAr mxE dual // eq_sym (negPf rt) mulr0.
have [t tG i|c freec] := enough (u *m v1^T); first by rewrite logits_dyad v1G // /g mulrnAr.
exists (u, v0 *+ c + v1); apply: etrans freec; congr free; apply/eq_map => t; congr (row_mx (feature E e _ t) _).
by rewrite /= [(_ + _)^T]linearD /= mulmxDr -!scaler_nat linearZ /= -scalemxAr.
Qed.

(* One steering head: c u v^T + sum over t in G of w_t ê_t^T, with ê dual to the queries of G, v the selector, and w_t
   such that the logits of t are those of one vertex of its context. For the first group, the second term alone. It has
   rank at most r, so a head of width dh >= r holds it. *)
Lemma steering_step r dh b (z : I -> 'rV[F]_b) (S G : seq I) : (0 < r <= n)%N -> (r <= dh)%N ->
  free [seq z s | s <- S] -> free [seq q t | t <- G] ->
  (forall s, s \in S -> q s \notin <<[seq q t | t <- G]>>%VS) ->
  (size G <= r - (S != [::]))%N ->
  exists kq : 'M[A]_(d, dh) * 'M[A]_(d, dh), free [seq row_mx (feature E e (kq.1 *m kq.2^T) t) (z t) | t <- G ++ S].
Proof.
move=> /andP [r0 rn] rdh freeS freeG outS sizeG.
have [u sep] := separator (fun t (_ : t \in G ++ S) => A2_holds t).
have [v [vG vS]] := selector outS.
have [f [dual_of [f0 dual]]] := duals freeG.
have uG : uniq G by apply: map_uniq (free_uniq freeG).
have /fin_all_exists [g /fin_all_exists [W EW]] t : exists g (W : 'M[A]_(d, n)), 0 < g /\ E t *m W = g%:M.
  have [g [W [g0 WE]]] := clear_denominators (pinvmx (embm (E t))); exists g, W; split=> //.
  by apply: embm_inj; rewrite map_mxM WE -scalemxAr mulmxVp ?A2_holds // map_scalar_mx scalemx1.
have [||| alpha [alpha_n enough]] := @one_head X _ _ _ E e b z S G (fun t k i => (g t * f) *+ (val i == k)) u v _ vG vS _ freeS uG.
- by move=> s sS; apply: sep; rewrite mem_cat sS orbT.
- by move=> t tG; apply: free_vertices; [exact: A2_holds | case: (EW t) => g0 _; rewrite mulr_gt0].
- by apply: leq_trans sizeG (leq_sub2r _ rn).
pose w t := if insub (alpha t) is Some i then col i (W t) else 0.
pose steering := [seq (w t, dual_of t) | t <- G].
have [|c freec] := enough (\sum_(x <- steering) x.1 *m x.2^T).
  move=> t tG i; rewrite big_map logits_sum (bigD1_seq t) //= big_seq_cond big1 ?addr0 => [|r' /andP [rG rt]].
    rewrite logits_dyad dual // eqxx mulr1n /w insubT ?alpha_n //= => lt_n.
    by rewrite colE mulmxA (EW t).2 mul_scalar_mx !mxE eqxx andbT -val_eqE mulr_natr mulrnAl.
  by rewrite logits_dyad dual // eq_sym (negPf rt) mulr0.
pose kq := if S is [::] then steering else (u *+ c, v) :: steering.
have [|WK [WQ WKQ]] := @dyads A d dh kq.
  apply: leq_trans rdh; rewrite /kq; case: (S) sizeG => [|s S'] /=; rewrite size_map ?subn0 // subn1.
  by rewrite -ltnS prednK.
exists (WK, WQ); rewrite /= WKQ /kq; case: (S) freec => [|s S'] freec; last first.
  apply: etrans freec; congr free; apply/eq_map => t; congr (row_mx (feature E e _ t) _).
  by rewrite big_cons /= -!scaler_nat scalemxAl.
apply: etrans freec; congr free; apply/eq_in_map => t; rewrite cats0 => tG; congr (row_mx _ _).
apply: eq_bigr => i _; congr (_ *: _); rewrite /softmax.
have L j : logits (E t) (e t) (\sum_(x <- steering) x.1 *m x.2^T) j =
    logits (E t) (e t) ((u *m v^T) *+ c + \sum_(x <- steering) x.1 *m x.2^T) j.
  by rewrite logitsD -scaler_nat logitsZ logits_dyad vG // !mulr0 add0r.
by rewrite L; congr (_ / _); apply: eq_bigr => j _; rewrite L.
Qed.

End Construction.

(* The two theorems, for numbers of either kind. *)
Section Theorems.
Variable X : exponential.
Local Notation A := (logit_ring X).
Local Notation embm := (map_mx (emb X)).
Variables (n d T H : nat) (E : 'I_T -> 'M[A]_(n, d)) (e : 'I_T -> 'rV[A]_d) (group : 'I_T -> 'I_H).

Theorem width_one : A2 (fun t => embm (E t)) -> P n (fun t => embm (e t)) group ->
  exists u v : 'I_H -> 'cV[A]_d, row_free (feature_matrix (fun t h => feature E e (u h *m (v h)^T) t)).
Proof.
case: n E => [|n'] E' A2_holds partition.
  exists (fun=> 0), (fun=> 0); apply: inj_row_free => c _; apply/rowP => t.
  by have [/(_ (group t))] := partition; rewrite leqn0 => /eqP /cards0_eq /setP /(_ t); rewrite !inE eqxx.
have [uv Z] := @all_placed _ n'.+1 d d T H _ (0, 0) (fun w => feature E' e (w.1 *m w.2^T))
  (fun t => embm (e t)) group (@width_one_step X n' d T E' e A2_holds) partition.
by exists (fun h => (uv h).1), (fun h => (uv h).2).
Qed.

Theorem steering r dh : (0 < r <= n)%N -> (r <= dh)%N ->
  A2 (fun t => embm (E t)) -> P r (fun t => embm (e t)) group ->
  exists WK WQ : 'I_H -> 'M[A]_(d, dh), row_free (feature_matrix (fun t h => feature E e (WK h *m (WQ h)^T) t)).
Proof.
case: n E => [|n'] E' rn rdh A2_holds partition; first by case/andP: rn => /leq_trans H0 /H0.
have [kq Z] := @all_placed _ r d d T H _ (0, 0)
  (fun w : 'M_(d, dh) * 'M_(d, dh) => feature E' e (w.1 *m w.2^T)) (fun t => embm (e t)) group
  (fun b z S G => @steering_step X n' d T E' e A2_holds r dh b z S G rn rdh) partition.
by exists (fun h => (kq h).1), (fun h => (kq h).2).
Qed.
End Theorems.
