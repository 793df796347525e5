(* The reduction (docs/mathematics.md, section 1): universal memorization is full rank of the features. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Reduction.
Variables (F : fieldType) (T H d : nat) (z : 'I_T -> 'I_H -> 'rV[F]_d).

(* The blocks U_h of a matrix U, as Z = [z^1 ... z^H] has blocks of d columns. *)
Definition block m (U : 'M[F]_(H * d, m)) h : 'M[F]_(d, m) := \matrix_(i, j) U (mxvec_index h i) j.

Lemma sum_blocks m (U : 'M[F]_(H * d, m)) t : \sum_h z t h *m block U h = row t (feature_matrix z) *m U.
Proof.
apply/rowP => j; rewrite summxE [RHS]mxE.
rewrite (reindex (uncurry (@mxvec_index H d))) /=; last by apply: curry_mxvec_bij.
rewrite (eq_bigr (fun p => z t p.1 0 p.2 * U (mxvec_index p.1 p.2) j)); last first.
  by move=> [h i] _ /=; rewrite !mxE mxvecE mxE.
rewrite -(pair_bigA _ (fun h i => z t h 0 i * U (mxvec_index h i) j)) /=.
by apply: eq_bigr => h _; rewrite mxE; apply: eq_bigr => i _; rewrite mxE.
Qed.

(* Full rank: solve Z U = Y, take block h of U padded with zero columns as V_h, and [I; 0] as O_h. *)
Lemma full_rank_memorizes : row_free (feature_matrix z) -> memorizes z.
Proof.
move=> freeZ m dv Y W; pose U := pinvmx (feature_matrix z) *m \matrix_t Y t.
pose I0 : 'M[F]_(m, dv) := pid_mx m.
exists (block (U *m I0)), (fun=> I0^T) => t.
have I00 : I0 *m I0^T = 1%:M.
  by rewrite /I0 tr_pid_mx mul_pid_mx !minnn (minn_idPr W) pid_mx_1.
have ZU : feature_matrix z *m U = \matrix_t Y t by rewrite mulmxA mulmxVp // mul1mx.
by rewrite /output -mulmx_suml sum_blocks mulmxA -row_mul ZU -mulmxA I00 mulmx1 rowK.
Qed.

(* The outputs of any layer are a combination of Z, so a dependence between its rows is one between the outputs. *)
Lemma output_dependent m dv (V : 'I_H -> 'M[F]_(d, dv)) (O : 'I_H -> 'M[F]_(dv, m)) (c : 'I_T -> F) :
  (forall h, \sum_t c t *: z t h = 0) -> \sum_t c t *: output z V O t = 0.
Proof.
move=> dep; rewrite (eq_bigr (fun t => \sum_h (c t *: z t h) *m (V h *m O h))); last first.
  by move=> t _; rewrite scaler_sumr; apply: eq_bigr => h _; rewrite mulmxA !scalemxAl.
by rewrite exchange_big big1 // => h _; rewrite -mulmx_suml dep mul0mx.
Qed.

(* Conversely, if all labels of one size m > 0 are met, with values of any width, the rank is full. *)
Lemma memorizes_full_rank m dv : (0 < m)%N ->
  (forall Y : 'I_T -> 'rV[F]_m, exists (V : 'I_H -> 'M_(d, dv)) (O : 'I_H -> 'M_(dv, m)), forall t, output z V O t = Y t) ->
  row_free (feature_matrix z).
Proof.
move=> m0 all_met; apply: inj_row_free => c cZ; apply/rowP => s; rewrite [RHS]mxE.
pose j0 := Ordinal m0; have [V [O met]] := all_met (fun t => (t == s)%:R *: delta_mx 0 j0).
have dep h : \sum_t c 0 t *: z t h = 0.
  apply/rowP => i; move/rowP/(_ (mxvec_index h i)): cZ; rewrite !mxE summxE => cZ.
  by rewrite -[RHS]cZ; apply: eq_bigr => t _; rewrite !mxE mxvecE mxE.
have /rowP/(_ j0) := output_dependent V O dep; rewrite summxE (bigD1 s) //= big1 => [|t ts].
  by rewrite addr0 met eqxx !mxE !eqxx !mulr1.
by rewrite met (negPf ts) scale0r scaler0 mxE.
Qed.

Theorem reduction m dv : (0 < m)%N -> (m <= dv)%N ->
  row_free (feature_matrix z) <->
  (forall Y : 'I_T -> 'rV[F]_m, exists (V : 'I_H -> 'M_(d, dv)) (O : 'I_H -> 'M_(dv, m)), forall t, output z V O t = Y t).
Proof.
by move=> m0 W; split=> [/full_rank_memorizes mem Y|]; [apply: mem | apply: memorizes_full_rank].
Qed.
End Reduction.
