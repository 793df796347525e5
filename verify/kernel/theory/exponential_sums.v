(* Lemma 3 of docs/given-labels.md, for finite sums: if the sums of (alpha + beta k) x^k vanish at k = 0, 1, .., then for each value
   of x the alpha, and the beta, add up to 0. And what follows if x runs through the products of two of finitely many exponentials. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Confluent.
Variables (F : fieldType) (I : finType) (x alpha beta : I -> F).
Hypothesis x0 : forall i, x i != 0.
Hypothesis sums : forall k, (k < 2 * #|I| + 2)%N -> \sum_i (alpha i + beta i *+ k) * x i ^+ k = 0.

Lemma x_deriv (p : {poly F}) y : y * p^`().[y] = \sum_(k < size p) p`_k * (y ^+ k *+ k).
Proof.
have -> : p^`() = \sum_(k < size p) p`_k *: ('X^k)^`().
  by rewrite -{1}[p]coefK poly_def linear_sum; apply: eq_bigr => k _; rewrite linearZ.
rewrite horner_sum mulr_sumr; apply: eq_bigr => k _; rewrite derivXn hornerZ hornerMn hornerXn mulrCA; congr (_ * _).
by case: (k : nat) => [|j]; rewrite ?mulr0n ?mulr0 // mulrnAr -exprS.
Qed.

Lemma sums_poly (p : {poly F}) : (size p <= 2 * #|I| + 2)%N -> \sum_i (alpha i * p.[x i] + beta i * (x i * p^`().[x i])) = 0.
Proof.
move=> small; transitivity (\sum_i \sum_(k < size p) p`_k * ((alpha i + beta i *+ k) * x i ^+ k)).
  apply: eq_bigr => i _; rewrite x_deriv horner_coef !mulr_sumr -big_split; apply: eq_bigr => k _ /=.
  by rewrite mulrDl mulrDr; congr (_ + _); rewrite mulrCA // mulrnAr mulrnAl.
rewrite exchange_big big1 // => k _; rewrite -mulr_sumr sums ?mulr0 //.
by apply: leq_trans small; apply: ltn_ord.
Qed.

(* A polynomial with double roots at the other values. *)
Lemma confluent m : \sum_(i | x i == m) alpha i = 0 /\ \sum_(i | x i == m) beta i = 0.
Proof.
have [/existsP [i0 /eqP m_at]|none] := boolP [exists i, x i == m]; last first.
  by rewrite !big_pred0 // => i; apply: contraNF none => xi; apply/existsP; exists i.
pose p := \prod_(i | x i != m) ('X - (x i)%:P) ^+ 2.
have size2 (c : F) : size (('X - c%:P) ^+ 2) = 3%N by rewrite size_exp_XsubC.
have size_p : (size p <= 2 * #|I| + 1)%N.
  rewrite size_prod => [|i _]; last by rewrite -size_poly_gt0 size2.
  rewrite (eq_bigr (fun=> 3%N)) // sum_nat_const; set c := #|_|; have cI : (c <= #|I|)%N by apply: max_card.
  by rewrite mulnS subSn ?leq_addr // addKn addn1 ltnS mulnC leq_mul2l cI orbT.
have p_m : p.[m] != 0.
  rewrite horner_prod prodf_seq_neq0; apply/allP => i _; apply/implyP => xi.
  by rewrite horner_exp expf_neq0 // hornerXsubC subr_eq0 eq_sym.
have double i : x i != m -> exists q, p = q * ('X - (x i)%:P) ^+ 2.
  by move=> xi; exists (\prod_(j | (x j != m) && (j != i)) ('X - (x j)%:P) ^+ 2); rewrite /p (bigD1 i) //= mulrC.
have p_0 i : x i != m -> p.[x i] = 0.
  by move=> /double [q ->]; rewrite expr2 !hornerM hornerXsubC subrr !mulr0.
have p'_0 i : x i != m -> p^`().[x i] = 0.
  move=> /double [q ->]; rewrite expr2 mulrA derivM derivXsubC mulr1 hornerD !hornerM hornerXsubC subrr !mulr0 addr0 //.
have m0 : m != 0 by rewrite -m_at.
have beta0 : \sum_(i | x i == m) beta i = 0.
  have size_p1 : (size (p * ('X - m%:P))%R <= 2 * #|I| + 2)%N.
    by apply: leq_trans (size_mul_leq _ _) _; rewrite size_XsubC addn2 /= addn2 ltnS -addn1.
  have := sums_poly size_p1; rewrite (bigID (fun i => x i == m)) /= [X in _ + X]big1 ?addr0 => [|i xi]; last first.
    by rewrite derivM derivXsubC mulr1 hornerD !hornerM p_0 // p'_0 // !(mul0r, mulr0, addr0).
  rewrite (eq_bigr (fun i => beta i * (m * p.[m]))) => [|i /eqP ->]; last first.
    by rewrite derivM derivXsubC mulr1 hornerD !hornerM hornerXsubC subrr !mulr0 !add0r.
  by rewrite -mulr_suml => /eqP; rewrite mulf_eq0 (negPf (mulf_neq0 m0 p_m)) orbF => /eqP.
split=> //; have small : (size p <= 2 * #|I| + 2)%N by apply: leq_trans size_p _; rewrite leq_add2l.
have := sums_poly small; rewrite (bigID (fun i => x i == m)) /= [X in _ + X]big1 ?addr0 => [|i xi]; last first.
  by rewrite p_0 // p'_0 // !(mulr0, addr0).
rewrite (eq_bigr (fun i => alpha i * p.[m] + beta i * (m * p^`().[m]))) => [|i /eqP -> //].
rewrite big_split /= -!mulr_suml beta0 mul0r addr0 => /eqP; rewrite mulf_eq0 (negPf p_m) orbF => /eqP.
done.
Qed.
End Confluent.

(* Numbers f with positive weights c, and equal where the y are. The largest y comes first. *)
Section TopFirst.
Variables (R : realDomainType) (I : finType) (y c f : I -> R) (G : I -> I -> R) (top : I).
Hypotheses (c_gt0 : forall i, 0 < c i) (same : forall i j, y i = y j -> f i = f j) (largest : forall i, y i <= y top).
Hypothesis same_G : forall i j k l, y i = y j -> y k = y l -> G i k = G j l.
Hypothesis sums : forall m, \sum_(ij : I * I | y ij.1 + y ij.2 == m) c ij.1 * c ij.2 * (G ij.1 ij.2 * f ij.1) = 0.
Hypothesis unless : forall i, G i top = 0 -> f i = 0.

Lemma top_first i : f i = 0.
Proof.
have [k] := ubnP #|[set j | y i < y j]|; elim: k i => // k IH i; rewrite ltnS => few.
have before j : y i < y j -> f j = 0.
  move=> ij; apply: IH; apply: leq_trans few; apply: proper_card; apply/properP; split.
    by apply/subsetP => l; rewrite !inE; apply: lt_trans.
  by exists j; rewrite !inE ?ltxx.
have := sums (y i + y top); set P := fun ij : I * I => _.
rewrite (bigID (fun ij : I * I => y ij.1 == y i)) /= [X in _ + X]big1 ?addr0 => [|[j l] /= /andP [/eqP jl ji]]; last first.
  rewrite (before j) ?mulr0 // lt_neqAle eq_sym ji /= -(ler_add2r (y top)) -jl ler_add2l; exact: largest.
rewrite (eq_bigr (fun ij => c ij.1 * c ij.2 * (G i top * f i))) => [|[j l] /= /andP [/eqP jl /eqP ji]]; last first.
  have jtop : y l = y top by apply: (addrI (y i)); rewrite -jl ji.
  by rewrite (same ji) (same_G ji jtop).
rewrite -mulr_suml => /eqP; rewrite mulf_eq0 mulf_eq0 => /orP [|/orP [/eqP/unless|/eqP] //].
rewrite gt_eqF // (bigD1 (i, top)) /= ?eqxx // ltr_paddr ?mulr_gt0 // sumr_ge0 // => ij _.
by apply/ltW/mulr_gt0.
Qed.
End TopFirst.

(* What is seen at all queries of a line: numbers A and B of tuples with slopes y and values x, such that the mean of A cancels the
   covariance of x and B. *)
Section Line.
Variables (R : realType) (I : finType) (x y : I -> R) (top : I).
Hypotheses (largest : forall i, y i <= y top) (same_x : forall i j, y i = y j -> x i = x j).
Local Notation N := (2 * #|[finType of I * I]| + 2)%N.

Lemma line_sums (c A B0 B : I -> R) : (forall i, 0 < c i) ->
  (forall k, (k < N)%N -> \sum_(ij : I * I) c ij.1 * expR (y ij.1) ^+ k * (c ij.2 * expR (y ij.2) ^+ k) *
    (A ij.1 + (x ij.1 - x ij.2) * (B0 ij.1 *+ k + B ij.1)) = 0) ->
  forall m, \sum_(ij : I * I | y ij.1 + y ij.2 == m) c ij.1 * c ij.2 * (A ij.1 + (x ij.1 - x ij.2) * B ij.1) = 0 /\
            \sum_(ij : I * I | y ij.1 + y ij.2 == m) c ij.1 * c ij.2 * ((x ij.1 - x ij.2) * B0 ij.1) = 0.
Proof.
move=> c0 sums m; pose z (ij : I * I) := expR (y ij.1 + y ij.2).
have z0 ij : z ij != 0 by rewrite gt_eqF ?expR_gt0.
pose alpha (ij : I * I) := c ij.1 * c ij.2 * (A ij.1 + (x ij.1 - x ij.2) * B ij.1).
pose beta (ij : I * I) := c ij.1 * c ij.2 * ((x ij.1 - x ij.2) * B0 ij.1).
have [k kN|] := @confluent _ _ z alpha beta z0 _ (expR m).
  rewrite -[RHS](sums k kN); apply: eq_bigr => ij _; rewrite /alpha /beta /z expRD exprMn -!mulrnAr -mulrDr -addrA -mulrDr [B _ + _]addrC.
  by rewrite mulrAC; congr (_ * _); rewrite mulrACA.
have same : (fun ij => z ij == expR m) =1 (fun ij : I * I => y ij.1 + y ij.2 == m).
  by move=> ij; rewrite /z; apply/eqP/eqP => [/expR_inj|->].
by rewrite !(eq_bigl _ _ same).
Qed.

Variable c : I -> R.
Hypothesis c0 : forall i, 0 < c i.
Lemma mean_zero (A : I -> R) : (forall i j, y i = y j -> A i = A j) ->
  (forall m, \sum_(ij : I * I | y ij.1 + y ij.2 == m) c ij.1 * c ij.2 * A ij.1 = 0) -> forall i, A i = 0.
Proof.
move=> same sums; apply: (@top_first R I y c A (fun _ _ => 1) top) => // [m|i /eqP]; last by rewrite oner_eq0.
by rewrite -[RHS](sums m); apply: eq_bigr => ij _; rewrite mul1r.
Qed.
Lemma no_covariance m b : \sum_(ij : I * I | y ij.1 + y ij.2 == m) c ij.1 * c ij.2 * ((x ij.1 - x ij.2) * b) = 0.
Proof.
set S := \sum_(ij | _) _; have : S = - S.
  have swap : involutive (fun ij : I * I => (ij.2, ij.1)) by case.
  rewrite {1}/S (reindex_inj (inv_inj swap)) -sumrN; apply: eq_big => [ij|ij _] /=; first by rewrite addrC.
  by rewrite -opprB mulNr mulrN [c ij.2 * _]mulrC.
by move/eqP; rewrite -addr_eq0 -mulr2n mulrn_eq0 => /eqP.
Qed.
Lemma covariance_zero (B : I -> R) : (forall i j, y i = y j -> B i = B j) -> (forall i j, x i = x j -> B i = B j) ->
  (forall m, \sum_(ij : I * I | y ij.1 + y ij.2 == m) c ij.1 * c ij.2 * ((x ij.1 - x ij.2) * B ij.1) = 0) -> forall i, B i = B top.
Proof.
move=> same same' sums i; apply/eqP; rewrite -subr_eq0; apply/eqP.
apply: (@top_first R I y c (fun i => B i - B top) (fun i j => x i - x j) top) => // [i' j /same -> //|||].
- by move=> i' j k l /same_x -> /same_x ->.
- move=> m; rewrite (eq_bigr (fun ij => c ij.1 * c ij.2 * ((x ij.1 - x ij.2) * B ij.1) - c ij.1 * c ij.2 * ((x ij.1 - x ij.2) * B top))) => [|ij _].
    by rewrite sumrB sums no_covariance subrr.
  by rewrite /= -!mulrBr.
- by move=> i' /eqP; rewrite subr_eq0 => /eqP /same' ->; rewrite subrr.
Qed.
End Line.
