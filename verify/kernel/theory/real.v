From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import lemmas choice layer step main.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* ================= the specification: the layer over the real numbers, true exp ============ *)
Section Spec.
Variable R : realType.

Definition softmax n (l : 'I_n -> R) (i : 'I_n) : R := expR (l i) / \sum_j expR (l j).

(* one head of width one, M = u v^T : E^T sigma(E M e), as a row *)
Definition head n d (E : 'M[R]_(n, d)) (e : 'rV[R]_d) (u v : 'cV[R]_d) : 'rV[R]_d :=
  \sum_i softmax (fun i => (E *m u) i 0 * (e *m v) 0 0) i *: row i E.

Definition out n d dv m H (u v : 'I_H -> 'cV[R]_d) (V : 'I_H -> 'M[R]_(d, dv)) (O : 'I_H -> 'M[R]_(dv, m))
    (E : 'M[R]_(n, d)) (e : 'rV[R]_d) : 'rV[R]_m :=
  \sum_h head E e (u h) (v h) *m V h *m O h.
End Spec.

(* ================= universal memorization from full rank ============ *)
Section Readout.
Variables (F : fieldType) (T H d : nat) (z : 'I_T -> 'I_H -> 'rV[F]_d).
Definition stack : 'M[F]_(T, H * d) := \matrix_t mxvec (\matrix_h z t h).

Lemma readout m dv (Y : 'I_T -> 'rV[F]_m) : row_free stack -> (m <= dv)%N ->
  exists (V : 'I_H -> 'M[F]_(d, dv)) (O : 'I_H -> 'M[F]_(dv, m)),
    forall t, \sum_h z t h *m V h *m O h = Y t.
Proof.
move=> freeZ mdv; pose W := pinvmx stack *m \matrix_t Y t.
pose P : 'M[F]_(m, dv) := pid_mx m.
exists (fun h => \matrix_(i, j) (W *m P) (mxvec_index h i) j), (fun=> P^T) => t.
have PP : P *m P^T = 1%:M.
  by rewrite /P tr_pid_mx mul_pid_mx !minnn (minn_idPr mdv) pid_mx_1.
have ZW : stack *m W = \matrix_t Y t by rewrite mulmxA mulmxVp // mul1mx.
rewrite -mulmx_suml.
have -> : \sum_h z t h *m (\matrix_(i, j) (W *m P) (mxvec_index h i) j) = row t stack *m (W *m P).
  apply/rowP => j; rewrite summxE [RHS]mxE.
  rewrite (reindex (uncurry (@mxvec_index H d))) /=; last by apply: curry_mxvec_bij.
  rewrite (eq_bigr (fun p => z t p.1 0 p.2 * (W *m P) (mxvec_index p.1 p.2) j)); last first.
    by move=> [h i] _ /=; rewrite !mxE mxvecE mxE.
  rewrite -(pair_bigA _ (fun h i => z t h 0 i * (W *m P) (mxvec_index h i) j)) /=.
  by apply: eq_bigr => h _; rewrite mxE; apply: eq_bigr => i _; rewrite mxE.
by rewrite mulmxA -row_mul ZW -mulmxA PP mulmx1 rowK.
Qed.
End Readout.

(* ================= rational data, real layer ============ *)
Section Main.
Variable R : realType.
Local Notation realm := (map_mx (ratr : rat -> R)).

Lemma expR_ln2 (k : int) : expR (ln 2%:R * k%:~R) = 2%:R ^ k :> R.
Proof.
have e2 : expR (ln 2%:R) = 2%:R :> R by rewrite lnK // posrE ltr0n.
case: k => k; first by rewrite -pmulrn mulrC expRMm e2 -exprnP.
by rewrite NegzE mulrNz mulrN expRN mulrC expRMm e2 exprnN.
Qed.

Lemma softmax_ln2 n (k : 'I_n -> int) i :
  softmax (fun i => ln 2%:R * (k i)%:~R : R) i = ratr (softmax2 k i).
Proof.
have pw (j : int) : ratr (2%:R ^ j) = 2%:R ^ j :> R by rewrite fmorphXz rmorph_nat.
rewrite /softmax /softmax2 fmorph_div /= pw expR_ln2 rmorph_sum /=; congr (_ / _).
by apply: eq_bigr => j _; rewrite expR_ln2 pw.
Qed.

Theorem width_one_real n d T H (E : 'I_T -> 'M[int]_(n, d)) (e : 'I_T -> 'rV[int]_d) (grp : 'I_T -> 'I_H) :
  (forall t, row_free (ratm (E t))) ->
  (forall h : 'I_H, (#|[set t | grp t == h]| <= n - (0 < h))%N) ->
  (forall h : 'I_H, free [seq ratm (e t) | t <- enum 'I_T & grp t == h]) ->
  (forall (h : 'I_H) s, (grp s < h)%N ->
     ratm (e s) \notin <<[seq ratm (e t) | t <- enum 'I_T & grp t == h]>>%VS) ->
  exists u v : 'I_H -> 'cV[R]_d, forall m dv (Y : 'I_T -> 'rV[R]_m), (m <= dv)%N ->
    exists (V : 'I_H -> 'M[R]_(d, dv)) (O : 'I_H -> 'M[R]_(dv, m)),
      forall t, out u v V O (map_mx intr (E t)) (map_mx intr (e t)) = Y t.
Proof.
move=> hE hG hF hO; have [u [v rk]] := width_one hE hG hF hO.
exists (fun h => map_mx intr (u h)), (fun h => ln 2%:R *: map_mx intr (v h)) => m dv Y mdv.
apply: readout => //; rewrite /row_free.
suff -> : stack (fun t h => head (map_mx intr (E t)) (map_mx intr (e t))
   (map_mx intr (u h)) (ln 2%:R *: map_mx intr (v h))) = realm (features E e u v).
  by rewrite mxrank_map rk.
apply/row_matrixP => t; rewrite rowK -map_row rowK map_mxvec; congr mxvec.
apply/row_matrixP => h; rewrite rowK -map_row rowK /head /feature /attend raddf_sum /=.
have logE j : (map_mx intr (E t) *m map_mx intr (u h)) j 0 *
    (map_mx intr (e t) *m (ln 2%:R *: map_mx intr (v h))) 0 0 =
    ln 2%:R * (logit (E t) (e t) (u h) (v h) j)%:~R :> R.
  rewrite -scalemxAr -!map_mxM /logit; move: (E t *m u h) (e t *m v h) => A B.
  by rewrite !mxE intrM mulrCA.
have rowE j : map_mx (ratr : rat -> R) (row j (ratm (E t))) = row j (map_mx intr (E t)).
  by apply/rowP => k; rewrite !mxE ratr_int.
apply: eq_bigr => i _; rewrite map_mxZ rowE; congr (_ *: _).
rewrite -[RHS]softmax_ln2 /softmax logE; congr (_ / _); by apply: eq_bigr => j _; rewrite logE.
Qed.
End Main.
