(* Rational data: every logit an integer (in units of ln 2), so every feature is rational. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import lemmas choice layer step main.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition attendQ n d (E : 'M[rat]_(n, d)) (k : 'I_n -> int) : 'rV[rat]_d := \sum_i softmax2 k i *: row i E.

Lemma clear_family T m d (A : 'I_T -> 'M[rat]_(m, d)) :
  exists (f : int) (B : 'I_T -> 'M[int]_(m, d)), 0 < f /\ forall t, ratm (B t) = f%:~R *: A t.
Proof.
have [f [B [f0 BE]]] := clear_denominators (\matrix_t mxvec (A t)).
exists f, (fun t => vec_mx (row t B)); split=> // t.
apply: (can_inj mxvecK); rewrite -map_mxvec vec_mxK map_row BE linearZ /= linearZ /= rowK.
by [].
Qed.

Theorem width_one_rational n d T H (E : 'I_T -> 'M[rat]_(n, d)) (e : 'I_T -> 'rV[rat]_d) (grp : 'I_T -> 'I_H) :
  (forall t, row_free (E t)) ->
  (forall h : 'I_H, (#|[set t | grp t == h]| <= n - (0 < h))%N) ->
  (forall h : 'I_H, free [seq e t | t <- enum 'I_T & grp t == h]) ->
  (forall (h : 'I_H) s, (grp s < h)%N -> e s \notin <<[seq e t | t <- enum 'I_T & grp t == h]>>%VS) ->
  exists (u v : 'I_H -> 'cV[rat]_d) (k : 'I_T -> 'I_H -> 'I_n -> int),
    (forall t h i, (E t *m u h) i 0 * (e t *m v h) 0 0 = (k t h i)%:~R) /\
    row_free (\matrix_t mxvec (\matrix_h attendQ (E t) (k t h))).
Proof.
move=> hE hG hF hO.
have [f [E' [f0 E'E]]] := clear_family E; have [g [e' [g0 e'E]]] := clear_family e.
have fq : f%:~R != 0 :> rat by rewrite intr_eq0 gt_eqF.
have gq : g%:~R != 0 :> rat by rewrite intr_eq0 gt_eqF.
have fr (xs : seq 'I_T) : free [seq ratm (e' t) | t <- xs] = free [seq e t | t <- xs].
  by under eq_map => t do rewrite e'E; rewrite free_scale.
have [|h||u [v rk]] := @width_one n d T H E' e' grp _ hG.
- move=> t; rewrite E'E /row_free; move: (hE t); rewrite /row_free; congr (_ == _).
  by rewrite (eqmx_scale _ fq).
- by rewrite fr.
- move=> h s sh; have := hO h s sh; apply: contra; rewrite e'E => /(memvZ g%:~R^-1).
  rewrite scalerA mulVf // scale1r; apply: subvP; apply/span_subvP => _ /mapP [t tG ->].
  by rewrite e'E; apply/memvZ/memv_span/map_f.
exists (fun h => f%:~R *: ratm (u h)), (fun h => g%:~R *: ratm (v h)), (fun t h => logit (E' t) (e' t) (u h) (v h)).
split=> [t h i|].
  rewrite -!scalemxAr !scalemxAl -E'E -e'E -!map_mxM /logit.
  by move: (E' t *m u h) (e' t *m v h) => A B; rewrite !mxE intrM.
rewrite /row_free; apply/eqP; apply: etrans rk; rewrite -(eqmx_scale _ fq); congr (\rank _).
apply/row_matrixP => t; rewrite linearZ /= !rowK -linearZ /=; congr mxvec.
apply/row_matrixP => h; rewrite linearZ /= !rowK /feature /attendQ scaler_sumr; apply: eq_bigr => i _.
by rewrite E'E !linearZ /= scalerA mulrC scalerA.
Qed.
