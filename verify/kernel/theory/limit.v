(* Step 6 (finite c): what is independent in the limit c -> infinity is independent at some whole c. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer families exponential.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Sequences that vanish at least as fast as 1/c. *)
Section Vanishing.
Variable F : archiFieldType.
Implicit Types f g : nat -> F.

Definition vanishes f := exists C : F, forall c : nat, `|f c| * c%:R <= C.

Lemma vanishes_ext f g : f =1 g -> vanishes f -> vanishes g.
Proof. by move=> fg [C fC]; exists C => c; rewrite -fg. Qed.
Lemma vanishes0 : vanishes (fun=> 0).
Proof. by exists 0 => c; rewrite normr0 mul0r. Qed.
Lemma vanishesD f g : vanishes f -> vanishes g -> vanishes (fun c => f c + g c).
Proof.
move=> [C fC] [D gD]; exists (C + D) => c; apply: le_trans (ler_add (fC c) (gD c)).
by rewrite -mulrDl ler_wpmul2r ?ler0n // ler_norm_add.
Qed.
Lemma vanishesM f k : vanishes f -> vanishes (fun c => f c * k).
Proof. by move=> [C fC]; exists (C * `|k|) => c; rewrite normrM mulrAC ler_wpmul2r. Qed.
Lemma vanishes_sum (J : Type) (r : seq J) (p : pred J) (f : J -> nat -> F) :
  (forall j, p j -> vanishes (f j)) -> vanishes (fun c => \sum_(j <- r | p j) f j c).
Proof.
move=> H; elim: r => [|j r IH]; first by apply: vanishes_ext vanishes0 => c; rewrite big_nil.
case pj: (p j); last by apply: vanishes_ext IH => c; rewrite big_cons pj.
by apply: vanishes_ext (vanishesD (H j pj) IH) => c; rewrite big_cons pj.
Qed.
Lemma vanishes_norm f : vanishes f -> vanishes (fun c => `|f c|).
Proof. by move=> [C fC]; exists C => c; rewrite normr_id. Qed.
Lemma vanishes_le f g : (forall c, `|f c| <= g c) -> vanishes g -> vanishes f.
Proof.
move=> fg [C gC]; exists C => c; apply: le_trans (gC c); rewrite ler_wpmul2r ?ler0n //.
by apply: le_trans (fg c) _; apply: ler_norm.
Qed.
Lemma vanishes_small f : vanishes f -> exists c : nat, f c < 1.
Proof.
move=> [C fC]; have [c Cc] : exists c : nat, `|C| + 1 < c%:R.
  by exists (Num.bound (`|C| + 1)); apply: archi_boundP; rewrite addr_ge0.
have c0 : 0 < c%:R :> F by apply: le_lt_trans Cc; rewrite addr_ge0.
have H1 : f c * c%:R <= C by apply: le_trans (fC c); rewrite ler_wpmul2r ?ler_norm // ltW.
have H2 : C <= `|C| + 1 by rewrite ler_paddr // ler_norm.
by exists c; rewrite -(ltr_pmul2r c0) mul1r; apply: le_lt_trans (le_trans H1 H2) Cc.
Qed.

(* A matrix that is close to the identity is invertible. *)
Lemma near_identity m (D : 'M[F]_m) : \sum_i \sum_j `|D i j| < 1 -> row_free (1%:M + D).
Proof.
move=> D1; apply: inj_row_free => x; rewrite mulmxDr mulmx1 => /eqP; rewrite addr_eq0 => /eqP xE.
pose s := \sum_j `|x 0 j|.
have s0 : 0 <= s by apply: sumr_ge0.
have : s <= s * \sum_i \sum_j `|D i j|.
  rewrite /s {1}xE mulr_suml.
  have -> : \sum_j `|(- (x *m D)) 0 j| = \sum_j `|\sum_i x 0 i * D i j|.
    by apply: eq_bigr => j _; rewrite !mxE normrN.
  apply: (@le_trans _ _ (\sum_j \sum_i `|x 0 i| * `|D i j|)).
    by apply: ler_sum => j _; apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => i _; rewrite normrM.
  rewrite exchange_big /=; apply: ler_sum => i _; rewrite -mulr_sumr ler_wpmul2l //.
  by rewrite [X in _ <= X](bigD1 i) //= ler_addl sumr_ge0 // => k _; apply: sumr_ge0.
move=> ss; have {}s0 : s = 0.
  apply/eqP; rewrite eq_le s0 andbT leNgt; apply/negP => s_gt0.
  by move: ss; rewrite leNgt gtr_pmulr // D1.
apply/rowP => j; rewrite mxE; apply/eqP; rewrite -normr_eq0.
by move/eqP: s0; rewrite psumr_eq0 // => /allP /(_ j (mem_index_enum _)).
Qed.

(* If the rows f c t tend to the rows f0 t, and those are independent, then the rows f c t are, for some c.
   With B a right inverse of the limit matrix, A(c) B tends to the identity. *)
Lemma free_limit (I : eqType) N (xs : seq I) (f : nat -> I -> 'rV[F]_N) (f0 : I -> 'rV[F]_N) :
  (forall t j, t \in xs -> vanishes (fun c => f c t 0 j - f0 t 0 j)) ->
  free [seq f0 t | t <- xs] -> exists c, free [seq f c t | t <- xs].
Proof.
move=> H; rewrite free_rows_of => free0.
set A0 := rows_of xs f0 in free0; pose A c := rows_of xs (f c).
pose B := pinvmx A0; pose D c := (A c - A0) *m B.
have [c small] : exists c, \sum_i \sum_j `|D c i j| < 1.
  apply: vanishes_small; apply: vanishes_sum => i _; apply: vanishes_sum => j _; apply: vanishes_norm.
  pose t := tnth (in_tuple xs) i.
  apply: (@vanishes_ext (fun c => \sum_k (f c t 0 k - f0 t 0 k) * B k j)).
    by move=> c; rewrite [RHS]mxE; apply: eq_bigr => k _; rewrite !mxE.
  by apply: vanishes_sum => k _; apply/vanishesM/H/mem_tnth.
exists c; rewrite free_rows_of -/(A c); have := near_identity small.
have -> : 1%:M + D c = A c *m B by rewrite /D mulmxBl mulmxVp // addrC subrK.
rewrite row_free_unit => AB; apply/row_freeP; exists (B *m invmx (A c *m B)).
by rewrite mulmxA mulmxV.
Qed.
End Vanishing.

(* Step 3 (what happens as c -> infinity): where the logits are c a_i + b_i and a has one maximum, at i0, the
   softmax weights tend to 1 at i0 and to 0 elsewhere. *)
Lemma saturation (X : exponential) n (a b : 'I_n -> logit_ring X) (i0 i : 'I_n) :
  (forall i, i != i0 -> a i < a i0) ->
  vanishes (fun c => softmax (@ex X) (fun i => a i *+ c + b i) i - (i == i0)%:R).
Proof.
move=> amax; pose w c := softmax (@ex X) (fun i => a i *+ c + b i).
have w_ge0 c j : 0 <= w c j by rewrite divr_ge0 // ltW ?ex_gt0 // (sum_ex_gt0 _ j).
have behind j : j != i0 -> vanishes (fun c => w c j).
  move=> ji0; have gap : 0 < a i0 - a j by rewrite subr_gt0 amax.
  apply: (@vanishes_le _ _ (fun c => ex (- ((a i0 - a j) *+ c)) * ex (b j - b i0))).
    move=> c; rewrite ger0_norm // ler_pdivr_mulr ?(sum_ex_gt0 _ j) // (bigD1 i0) //= mulrDr -!exD.
    apply: ler_paddr.
      by apply: mulr_ge0; [exact/ltW/ex_gt0 | apply: sumr_ge0 => k _; exact/ltW/ex_gt0].
    by rewrite mulrnBl opprB addrACA !subrK.
  have [C decay] := ex_decay gap; apply: vanishesM; exists C => c.
  by rewrite ger0_norm //; exact/ltW/ex_gt0.
case: (eqVneq i i0) => [->|ii0]; last by apply: vanishes_ext (behind i ii0) => c; rewrite subr0.
have sum1 c : \sum_j w c j = 1 by rewrite -mulr_suml divff // (sum_ex_neq0 _ i0).
apply: (@vanishes_ext _ (fun c => (\sum_(j | j != i0) w c j) * -1)).
  move=> c; rewrite mulrN1 ?eqxx; have /= := sum1 c; rewrite (bigD1 i0) //= => w1.
  by rewrite -/(w c i0) -[X in _ = _ - X]w1 opprD addrA subrr add0r.
by apply: (@vanishesM _ (fun c => \sum_(j | j != i0) w c j)); apply: vanishes_sum => j; apply: behind.
Qed.
