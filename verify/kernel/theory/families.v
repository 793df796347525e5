(* Families of vectors as the rows of a matrix. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Families.
Variables (F : fieldType) (I : eqType) (N : nat).
Implicit Types (xs : seq I) (f : I -> 'rV[F]_N).

Definition rows_of xs f : 'M[F]_(size xs, N) := \matrix_(i < size xs) f (tnth (in_tuple xs) i).

Lemma row_rows_of xs f t : t \in xs -> exists i, f t = row i (rows_of xs f).
Proof. by move=> /(@tnthP _ _ (in_tuple xs)) [i ->]; exists i; rewrite rowK. Qed.

(* A family is independent if and only if the matrix of its rows has full row rank. *)
Lemma free_rows_of xs f : free [seq f t | t <- xs] = row_free (rows_of xs f).
Proof.
have E (k : 'rV[F]_(size xs)) : k *m rows_of xs f = \sum_i k 0 i *: f (tnth (in_tuple xs) i).
  by rewrite mulmx_sum_row; apply: eq_bigr => i _; rewrite rowK.
have nthE (i : 'I_(size xs)) : [tuple of map f (in_tuple xs)]`_i = f (tnth (in_tuple xs) i).
  by rewrite -tnth_nth tnth_map.
apply/idP/idP => [/(@freeP _ _ _ [tuple of map f (in_tuple xs)]) H | H].
  apply: inj_row_free => v; rewrite E => v0; apply/rowP => i; rewrite mxE.
  by apply: (H (fun i => v 0 i)); rewrite -[RHS]v0; apply: eq_bigr => j _; rewrite nthE.
apply/(@freeP _ _ _ [tuple of map f (in_tuple xs)]) => k k0 i.
have /(congr1 (fun M : 'rV_(size xs) => M 0 i)) : (\row_j k j) = 0 :> 'rV[F]_(size xs).
  apply: (row_free_inj H); rewrite mul0mx E -[RHS]k0.
  by apply: eq_bigr => j _; rewrite mxE nthE.
by rewrite !mxE.
Qed.

(* Rows may be scaled by numbers that are not 0. *)
Lemma free_scale xs f (k : I -> F) : {in xs, forall t, k t != 0} ->
  free [seq k t *: f t | t <- xs] = free [seq f t | t <- xs].
Proof.
move=> k0; rewrite !free_rows_of.
have -> : rows_of xs (fun t => k t *: f t) = diag_mx (\row_i k (tnth (in_tuple xs) i)) *m rows_of xs f.
  by apply/matrixP => i j; rewrite mul_diag_mx !mxE.
rewrite /row_free eqmxMfull // row_full_unit unitmxE det_diag unitfE prodf_seq_neq0.
by apply/allP => i _ /=; rewrite mxE k0 // mem_tnth.
Qed.

Lemma submx_span xs f v : (v <= rows_of xs f)%MS -> v \in <<[seq f t | t <- xs]>>%VS.
Proof.
case/submxP => D ->; rewrite mulmx_sum_row; apply: memv_suml => i _; apply: memvZ.
by rewrite rowK; apply: memv_span; apply: map_f; apply: mem_tnth.
Qed.
End Families.

Lemma rows_distinct (F : fieldType) m k (A : 'M[F]_(m, k)) i j : row_free A -> i != j -> row i A - row j A != 0.
Proof.
move=> freeA; apply: contraNneq; rewrite !rowE -mulmxBl => D0.
have /rowP/(_ i) : delta_mx 0 i - delta_mx 0 j = 0 :> 'rV[F]_m.
  by apply: (row_free_inj freeA); rewrite mul0mx.
rewrite !mxE !eqxx /=; by case: (i == j) => // /eqP; rewrite subr0 oner_eq0.
Qed.

(* Vectors whose images under a linear map are independent are independent. *)
Lemma free_map_inv (F : fieldType) (U V : vectType F) (f : {linear U -> V}) (X : seq U) :
  free [seq f x | x <- X] -> free X.
Proof.
elim: X => [|x X IH]; rewrite /= ?nil_free // !free_cons => /andP [fx /IH ->].
rewrite andbT; apply: contra fx => xX.
have -> : <<[seq f y | y <- X]>>%VS = (linfun f @: <<X>>)%VS.
  by rewrite limg_span; congr (<<_>>%VS); apply: eq_map => y; rewrite lfunE.
by rewrite -[f x](lfunE f) memv_img.
Qed.

(* n candidates are independent if no combination with coefficients b, not all 0, vanishes. *)
Lemma free_candidates (F : fieldType) (V : vectType F) n (f : nat -> V) :
  (forall b : 'rV[F]_n, \sum_k b 0 k *: f k = 0 -> b = 0) -> free [seq f k | k <- iota 0 n].
Proof.
move=> H; rewrite -val_enum_ord -map_comp.
apply/(@freeP _ _ _ [tuple f (val i) | i < n]) => k k0 i.
have /rowP/(_ i) : \row_j k j = 0; last by rewrite !mxE.
apply: H; rewrite -[RHS]k0; apply: eq_bigr => j _.
by rewrite mxE -tnth_nth tnth_mktuple.
Qed.
