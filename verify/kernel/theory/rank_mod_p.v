(* "Rank modulo p lifts" (docs/certificate.md, full-rank): fractions whose denominators are units modulo p, with full row
   rank modulo p, have full row rank over the rational numbers. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section RankModP.
Variable p : nat.   (* above 1; 'Z_0 and 'Z_1 mean 'Z_2 here *)
Local Notation modp := (intr : int -> 'Z_p).

Definition lift m k (B : 'M['Z_p]_(m, k)) : 'M[int]_(m, k) := map_mx (fun x : 'Z_p => Posz x) B.
Lemma liftK m k (B : 'M['Z_p]_(m, k)) : map_mx modp (lift B) = B.
Proof. by apply/matrixP => i j; rewrite !mxE -[RHS]natr_Zp. Qed.

(* A determinant that is a unit modulo p is not 0. *)
Lemma det_lifts T N (A : 'M[int]_(T, N)) (B : 'M['Z_p]_(N, T)) :
  \det (map_mx modp A *m B) \is a GRing.unit -> row_free (map_mx (intr : int -> rat) A).
Proof.
rewrite -[B]liftK -map_mxM det_map_mx => unit_det.
have det0 : \det (A *m lift B) != 0.
  by apply: contraTneq unit_det => ->; rewrite rmorph0 unitr0.
have U : map_mx (intr : int -> rat) (A *m lift B) \in unitmx by rewrite unitmxE unitfE det_map_mx intr_eq0.
apply/row_freeP; exists (map_mx intr (lift B) *m invmx (map_mx intr (A *m lift B))).
by rewrite mulmxA -map_mxM mulmxV.
Qed.

(* Row i of Z/D times the product of its denominators is a row of integers. *)
Definition cleared T N (Z D : 'M[int]_(T, N)) : 'M[int]_(T, N) :=
  \matrix_(i, j) (Z i j * \prod_(k | k != j) D i k).
Definition fractions (A : comUnitRingType) T N (Z D : 'M[int]_(T, N)) : 'M[A]_(T, N) :=
  \matrix_(i, j) ((Z i j)%:~R / (D i j)%:~R).
Definition denominators (A : comUnitRingType) T N (D : 'M[int]_(T, N)) : 'M[A]_T :=
  diag_mx (\row_i \prod_k (D i k)%:~R).

Lemma clearedE (A : comUnitRingType) T N (Z D : 'M[int]_(T, N)) :
  (forall i j, (D i j)%:~R \is a @GRing.unit A) ->
  map_mx intr (cleared Z D) = denominators A D *m fractions A Z D.
Proof.
move=> unit_D; apply/matrixP => i j; rewrite mul_diag_mx !mxE rmorphM rmorph_prod /=.
by rewrite [in RHS](bigD1 j) //= [RHS]mulrC mulrA divrK.
Qed.

Lemma det_denominators (A : comUnitRingType) T N (D : 'M[int]_(T, N)) :
  (forall i j, (D i j)%:~R \is a @GRing.unit A) -> \det (denominators A D) \is a GRing.unit.
Proof. by move=> unit_D; rewrite det_diag; apply: rpred_prod => i _; rewrite mxE; apply: rpred_prod. Qed.

(* Any modulus p > 1 will do: what is needed of p is that the denominators and the determinant are units. *)
Theorem rank_mod_p_lifts T N (Z D : 'M[int]_(T, N)) (B : 'M['Z_p]_(N, T)) :
  (forall i j, (D i j)%:~R \is a @GRing.unit [comUnitRingType of 'Z_p]) ->
  \det (fractions _ Z D *m B) \is a GRing.unit -> row_free (fractions [comUnitRingType of rat] Z D).
Proof.
move=> unit_D unit_det.
have : row_free (map_mx (intr : int -> rat) (cleared Z D)).
  apply: (@det_lifts _ _ _ B); rewrite clearedE // -mulmxA det_mulmx unitrM unit_det andbT.
  exact: det_denominators.
have unit_DQ i j : (D i j)%:~R \is a @GRing.unit [comUnitRingType of rat].
  rewrite unitfE intr_eq0; apply: contraTneq (unit_D i j) => ->; by rewrite unitr0.
rewrite clearedE // /row_free eqmxMfull // row_full_unit unitmxE.
exact: det_denominators.
Qed.
End RankModP.

(* For a prime p: full row rank over the field with p elements. *)
Corollary prime_rank_lifts p T N (Z D : 'M[int]_(T, N)) : prime p -> (forall i j, (D i j)%:~R != 0 :> 'F_p) ->
  row_free (fractions [comUnitRingType of 'F_p] Z D) -> row_free (fractions [comUnitRingType of rat] Z D).
Proof.
move=> p_pr D0 /row_freeP [B ZB]; apply: (@rank_mod_p_lifts (pdiv p) _ _ _ _ B).
- by move=> i j; have := D0 i j; rewrite -unitfE.
- by have -> : fractions _ Z D *m B = 1%:M by []; rewrite det1 unitr1.
Qed.
