(* The capacity law from above (docs/given-labels.md, section 3, Theorem 7, the upper bound): for all weights and all data
   the Jacobian of the scalar outputs by all weights has rank at most N(S) + T - |S|, for every set S of examples.
   This is the algebra: derivatives are those of formula (1) of that page; derivative.v shows that (1) is the derivative. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* "The derivative of a product X Y^T has an image {X' Y^T + X Y'^T} of dimension a b - (a - rk X)(b - rk Y) <= rho (a + b - rho)":
   matrices W_1, .., W_k of this form, X of size a x w and Y of size b x w, written as rows, have no larger rank. *)
Section Products.
Variables (F : fieldType) (a b w k : nat) (X : 'M[F]_(a, w)) (Y : 'M[F]_(b, w)).
Variables (X' : 'I_k -> 'M[F]_(a, w)) (Y' : 'I_k -> 'M[F]_(b, w)).
Local Notation products := (\matrix_(j < k) mxvec (X' j *m Y^T + X *m (Y' j)^T)).

(* With L X = 0 and Y^T R = 0 all W have L W R = 0, and W |-> L W R is onto. *)
Lemma rank_products_kernels : (\rank products <= a * b - (a - \rank X) * (b - \rank Y))%N.
Proof.
pose L := row_base (kermx X); pose R := (row_base (kermx Y))^T.
pose f := lin_mx (mulmxr R \o mulmx L).
have Lfree : row_free L by apply: row_base_free.
have Rfree : row_free R^T by rewrite trmxK row_base_free.
have LX : L *m X = 0 by apply/sub_kermxP; rewrite eq_row_base.
have YR : Y^T *m R = 0 by rewrite -trmx_mul; apply: (canLR trmxK); rewrite trmx0; apply/sub_kermxP; rewrite eq_row_base.
have LL : L *m pinvmx L = 1%:M by apply: mulmxVp.
have RR : (pinvmx R^T)^T *m R = 1%:M by rewrite -{2}[R]trmxK -trmx_mul mulmxVp // trmx1.
have f_onto : row_full f.
  rewrite -sub1mx; apply/row_subP => i; rewrite rowE mulmx1; set v := delta_mx 0 i.
  apply/submxP; exists (mxvec (pinvmx L *m vec_mx v *m (pinvmx R^T)^T)); rewrite mul_rV_lin mxvecK /= /mulmxr /=.
  have -> : L *m (pinvmx L *m vec_mx v *m (pinvmx R^T)^T) *m R = (L *m pinvmx L) *m vec_mx v *m ((pinvmx R^T)^T *m R).
    by rewrite !mulmxA.
  by rewrite LL RR mul1mx mulmx1 vec_mxK.
have /eqP rf : \rank f == (\rank (kermx X) * \rank (kermx Y))%N by [].
have : (products <= kermx f)%MS.
  apply/sub_kermxP/row_matrixP => j; rewrite row_mul rowK mul_rV_lin mxvecK /= row0.
  by rewrite mulmxDr mulmxDl !mulmxA LX mul0mx mul0mx addr0 -!mulmxA YR !mulmx0 linear0.
by move/mxrankS; rewrite mxrank_ker rf !mxrank_ker.
Qed.

Lemma rank_products : let rho := minn w (minn a b) in (\rank products <= rho * (a + b - rho))%N.
Proof.
case: (leqP w (minn a b)) => [|_ /=].
  rewrite leq_min => /andP [wa wb] /=; apply: leq_trans rank_products_kernels _.
  apply: (@leq_trans (a * b - (a - w) * (b - w))); first by rewrite leq_sub2l // leq_mul // leq_sub2l // rank_leq_col.
  have count i j : ((w + i) * (w + j) - i * j = w * (w + i + j))%N.
    by rewrite mulnDl !mulnDr addnA (mulnC i w) addnK addnAC.
  by rewrite -{1}(subnKC wa) -{1}(subnKC wb) count subnKC // addnBA.
apply: leq_trans (rank_leq_col _) _.
by case: (leqP a b) => _; rewrite ?addKn ?addnK // mulnC.
Qed.
End Products.

Section Ranks.
Variable F : fieldType.

Lemma rank_sum (I : finType) (A : pred I) k m (X : I -> 'M[F]_(k, m)) :
  (\rank (\sum_(i | A i) X i)%R <= \sum_(i | A i) \rank (X i))%N.
Proof.
apply: (big_ind2 (fun (Y : 'M[F]_(k, m)) r => \rank Y <= r)%N) => [|X1 r1 X2 r2 H1 H2|//]; first by rewrite mxrank0.
by apply: leq_trans (mxrank_add _ _) _; apply: leq_add.
Qed.

(* "and the others at most T - |S|": a matrix whose columns in S vanish. *)
Lemma rank_other_columns k T (S : {set 'I_T}) (X : 'M[F]_(k, T)) :
  (forall j t, t \in S -> X j t = 0) -> (\rank X <= T - #|S|)%N.
Proof.
move=> X0; have -> : X = \sum_(t in ~: S) col t X *m delta_mx (0 : 'I_1) t.
  apply/matrixP => j s; rewrite summxE (eq_bigr (fun t => X j t * (t == s)%:R)) => [|t _]; last first.
    by rewrite !mxE big_ord1 !mxE eqxx eq_sym.
  have [sS|sS] := boolP (s \in S).
    by rewrite X0 // big1 // => t; rewrite inE => tS; case: eqP sS => [<-|]; rewrite ?(negPf tS) // mulr0.
  rewrite (bigD1 s) ?inE //= eqxx mulr1 big1 ?addr0 // => t /andP [_ /negPf ->]; exact: mulr0.
apply: leq_trans (rank_sum _ _) _; have -> : (T - #|S| = #|~: S|)%N by rewrite [in RHS]cardsCs setCK card_ord.
rewrite -sum1_card.
by apply: leq_sum => t _; apply: leq_trans (mxrankM_maxr _ _) (rank_leq_row _).
Qed.
End Ranks.

(* A product of the form of the second summand of (1), as a product of what the data and what the direction determine. *)
Lemma seen_product (F : fieldType) n d w a b (y : 'rV[F]_d) (B : 'M[F]_(a, d)) (c : 'M[F]_(n, a)) (P : 'M[F]_n)
    (K K' Q Q' : 'M[F]_(d, w)) (g : 'rV[F]_b) (G : 'M[F]_(b, d)) :
  y *m (B^T *m c^T *m P *m c *m B) *m (K' *m Q^T + K *m Q'^T) *m (g *m G)^T =
  mxvec ((y *m B^T *m c^T *m P *m c)^T *m g) *m (mxvec ((B *m K') *m (G *m Q)^T + (B *m K) *m (G *m Q')^T))^T.
Proof.
rewrite mxvec_dotmul; set D := K' *m Q^T + K *m Q'^T.
have -> : B *m K' *m (G *m Q)^T + B *m K *m (G *m Q')^T = B *m D *m G^T.
  by rewrite /D mulmxDr mulmxDl !trmx_mul !mulmxA.
by rewrite trmx_mul; move: D => D; rewrite !mulmxA.
Qed.

(* The weights of a layer with outputs of width m: W_K, W_Q of width w, values of width dv, output. *)
Record weights (F : fieldType) (d w dv m H : nat) := Weights {
  key : 'I_H -> 'M[F]_(d, w); query : 'I_H -> 'M[F]_(d, w);
  value : 'I_H -> 'M[F]_(d, dv); out : 'I_H -> 'M[F]_(dv, m) }.

Section Law.
Variables (F : fieldType) (T H n d w dv : nat).
Variables (E : 'I_T -> 'M[F]_(n.+1, d)) (e : 'I_T -> 'rV[F]_d).

(* The attention of head h on example t, whatever it is: numbers that add up to 1. *)
Variable p : 'I_T -> 'I_H -> 'rV[F]_n.+1.
Hypothesis sum_p : forall t h, \sum_i p t h 0 i = 1.

(* Section 1: z = E^T p, C = E^T (diag p - p p^T) E, and formula (1). With v_h = X_h Y_h, value times output, and in the
   direction x' of the weights: a_h = X_h' Y_h + X_h Y_h', Delta_h = K_h' Q_h^T + K_h Q_h'^T. *)
Definition feature_of t h : 'rV[F]_d := p t h *m E t.
Definition covariance t h : 'M[F]_d := (E t)^T *m (diag_mx (p t h) - (p t h)^T *m p t h) *m E t.
Definition value_change m (x x' : weights F d w dv m H) h : 'M[F]_(d, m) := value x' h *m out x h + value x h *m out x' h.
Definition head_change m (x x' : weights F d w dv m H) h : 'M[F]_d := key x' h *m (query x h)^T + key x h *m (query x' h)^T.
Definition tangent (x x' : weights F d w dv 1 H) t : F :=
  (\sum_h (feature_of t h *m value_change x x' h +
           (value x h *m out x h)^T *m covariance t h *m head_change x x' h *m (e t)^T)) 0 0.

(* Section 3: D is spanned by the differences of rows inside the contexts of S, and a = dim D; b is the rank of all rows of
   its contexts, less a; d' is the rank of its queries, or the dimension of a space of queries. *)
Definition differences t : 'M[F]_(n.+1, d) := E t - const_mx 1 *m row ord0 (E t).
Definition span_of_differences (S : {set 'I_T}) := (\sum_(t in S) <<differences t>>)%MS.
Definition span_of_rows (S : {set 'I_T}) := (\sum_(t in S) <<E t>>)%MS.
Definition span_of_queries (S : {set 'I_T}) := (\sum_(t in S) <<e t>>)%MS.
Definition N_of (d' : nat) (S : {set 'I_T}) : nat :=
  let a := \rank (span_of_differences S) in
  let b := (\rank (span_of_rows S) - a)%N in
  let rho := minn w (minn a d') in
  (H * (rho * (a + d' - rho) + a) + b)%N.
Definition N (S : {set 'I_T}) : nat := Eval cbv beta delta [N_of] in N_of (\rank (span_of_queries S)) S.

(* "For all weights and all data rank J <= min_S [N(S) + T - |S|]": J has a row for each example and a column for each
   direction; any k directions. *)
Theorem capacity_upper (S : {set 'I_T}) (x : weights F d w dv 1 H) k (x' : 'I_k -> weights F d w dv 1 H) :
  (\rank (\matrix_(t, j) tangent x (x' j) t) <= N S + (T - #|S|))%N.
Proof.
set J := \matrix_(t, j) _.
pose D := span_of_differences S; pose B := row_base D; pose B' := row_base (span_of_rows S :\: D)%MS.
pose G := row_base (span_of_queries S).
(* "the rows of one context differ by elements of D": E_t = 1 r_t + c_t B, and r_t in terms of B and B'; e_t = g_t G *)
pose c t := differences t *m pinvmx B.
pose r t := row ord0 (E t) *m pinvmx (col_mx B B').
pose g t := e t *m pinvmx G.
have DR : (D <= span_of_rows S)%MS.
  apply/sumsmx_subP => t tS; rewrite genmxE; apply: (submx_trans _ (sumsmx_sup t tS (submx_refl _))).
  rewrite genmxE /differences addmx_sub // eqmx_opp; apply: submx_trans (submxMl _ _) (row_sub _ _).
have EtB t : t \in S -> E t = const_mx 1 *m (lsubmx (r t) *m B + rsubmx (r t) *m B') + c t *m B.
  move=> tS; have -> : lsubmx (r t) *m B + rsubmx (r t) *m B' = row ord0 (E t).
    rewrite -mul_row_col hsubmxK mulmxKpV // -addsmxE (adds_eqmx (eq_row_base _) (eq_row_base _)) addsmxC.
    apply: submx_trans (row_sub _ _) _; apply: (submx_trans (B := span_of_rows S)).
      by apply: (sumsmx_sup t tS); rewrite genmxE.
    by rewrite -{1}(addsmx_diff_cap_eq (span_of_rows S) D) addsmxS ?capmxSr.
  rewrite mulmxKpV ?eq_row_base; last by apply: (sumsmx_sup t tS); rewrite genmxE.
  by rewrite addrC subrK.
have etG t : t \in S -> e t = g t *m G.
  by move=> tS; rewrite mulmxKpV // eq_row_base; apply: (sumsmx_sup t tS); rewrite genmxE.
have pone t h : p t h *m const_mx 1 = 1%:M :> 'M_1.
  apply/matrixP => i j; rewrite !ord1 [LHS]mxE [RHS]mxE eqxx mulr1n -[RHS](sum_p t h); apply: eq_bigr => l _; by rewrite mxE mulr1.
(* "v_h . z_h = P v_h . z_h + (I - P) v_h . E_t,1" *)
have featureE t h : t \in S -> feature_of t h = (lsubmx (r t) + p t h *m c t) *m B + rsubmx (r t) *m B'.
  by move=> tS; rewrite /feature_of EtB // mulmxDr mulmxA pone mul1mx (mulmxA (p t h)) mulmxDl addrAC.
pose Gam t h := diag_mx (p t h) - (p t h)^T *m p t h.
have Gam1 t h : Gam t h *m const_mx 1 = 0 :> 'cV_n.+1.
  rewrite mulmxBl -mulmxA pone mulmx1; apply/eqP; rewrite subr_eq0; apply/eqP/matrixP => i j.
  by rewrite !ord1 mul_diag_mx !mxE mulr1.
have Gam_tr t h : (Gam t h)^T = Gam t h by rewrite linearB /= tr_diag_mx trmx_mul trmxK.
have GamE t h : t \in S -> Gam t h *m E t = Gam t h *m (c t *m B).
  by move=> tS; rewrite EtB // mulmxDr mulmxA Gam1 mul0mx add0r.
have covarianceE t h : t \in S -> covariance t h = B^T *m (c t)^T *m Gam t h *m c t *m B.
  move=> tS; rewrite /covariance -/(Gam t h) -{1}(Gam_tr t h) -trmx_mul.
  rewrite GamE // trmx_mul Gam_tr -[LHS]mulmxA GamE //.
  by rewrite trmx_mul !mulmxA.
(* What the outputs depend on: W = B Delta_h G^T, B a_h and B' sum a_h; and what they are multiplied with. *)
pose a_ j h := value_change x (x' j) h.
pose Wj j h := (B *m key (x' j) h) *m (G *m query x h)^T + (B *m key x h) *m (G *m query (x' j) h)^T.
pose u t h := (value x h *m out x h)^T *m B^T *m (c t)^T *m Gam t h *m c t.
pose W h := \matrix_j mxvec (Wj j h).
pose A1 h := (\matrix_t mxvec ((u t h)^T *m g t))^T.
pose V h := \matrix_j (B *m a_ j h)^T.
pose A2 h := (\matrix_t (lsubmx (r t) + p t h *m c t))^T.
pose U := \matrix_j (B' *m \sum_h a_ j h)^T.
pose A3 := (\matrix_t rsubmx (r t))^T.
pose X := \sum_h (W h *m A1 h + V h *m A2 h) + U *m A3.
have entry m (f1 : 'I_k -> 'rV[F]_m) (f2 : 'I_T -> 'rV[F]_m) j t :
    ((\matrix_i f1 i) *m (\matrix_s f2 s)^T) j t = (f2 t *m (f1 j)^T) 0 0.
  by rewrite !mxE; apply: eq_bigr => i _; rewrite !mxE mulrC.
have headE j t h : t \in S -> (value x h *m out x h)^T *m covariance t h *m head_change x (x' j) h *m (e t)^T =
    mxvec ((u t h)^T *m g t) *m (mxvec (Wj j h))^T.
  by move=> tS; rewrite covarianceE // {1}etG // seen_product.
have JX j t : t \in S -> J^T j t = X j t.
  move=> tS; have -> : X j t = \sum_h ((mxvec ((u t h)^T *m g t) *m (mxvec (Wj j h))^T) 0 0 +
      ((lsubmx (r t) + p t h *m c t) *m (B *m a_ j h)) 0 0) + (rsubmx (r t) *m (B' *m \sum_h a_ j h)) 0 0.
    rewrite mxE summxE entry trmxK; congr (_ + _); apply: eq_bigr => h _.
    by rewrite mxE !entry trmxK.
  rewrite [LHS]mxE mxE /tangent summxE !mulmx_sumr summxE -big_split; apply: eq_bigr => h _ /=.
  rewrite mxE headE // featureE // mulmxDl mxE addrC -addrA; congr (_ + (_ + _)); first by rewrite mulmxA.
  by rewrite mulmxA.
have rank_X : (\rank X <= N S)%N.
  have rank_B' : \rank (span_of_rows S :\: D) = (\rank (span_of_rows S) - \rank D)%N.
    by rewrite -(mxrank_cap_compl (span_of_rows S) D) (capmx_idPr DR) addKn.
  apply: leq_trans (mxrank_add _ _) _; apply: leq_add; last first.
    by rewrite -rank_B'; apply: leq_trans (mxrankM_maxl _ _) (rank_leq_col _).
  have -> q : (H * q = \sum_(h < H) q)%N by rewrite sum_nat_const card_ord.
  apply: leq_trans (rank_sum _ _) _; apply: leq_sum => h _.
  apply: leq_trans (mxrank_add _ _) _; apply: leq_add.
    by apply: leq_trans (mxrankM_maxl _ _) _; apply: rank_products.
  by apply: leq_trans (mxrankM_maxl _ _) (rank_leq_col _).
rewrite -mxrank_tr -[J^T](addrNK X) addrC; apply: leq_trans (mxrank_add _ _) _; apply: leq_add => //.
by apply: rank_other_columns => j t tS; rewrite mxE [X in _ + X]mxE JX // subrr.
Qed.
End Law.

From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer impossible.

(* Over the real numbers, with the true exponential: the attention of the heads K_h Q_h^T, and any data. *)
Section Real.
Variables (R : realType) (T H n d w dv : nat).
Variables (E : 'I_T -> 'M[R]_(n.+1, d)) (e : 'I_T -> 'rV[R]_d).

Definition attention (x : weights R d w dv 1 H) t h : 'rV[R]_n.+1 :=
  \row_i softmax (@expR R) (logits (E t) (e t) (key x h *m (query x h)^T)) i.
Lemma attention_sum x t h : \sum_i attention x t h 0 i = 1.
Proof. by under eq_bigr => i _ do rewrite mxE; apply: sum_softmax. Qed.
Lemma attention_feature x t h : feature_of E (attention x) t h = head_features (@expR R) E e (key x) (query x) t h.
Proof. by rewrite /feature_of mulmx_sum_row; apply: eq_bigr => i _; rewrite mxE. Qed.

Theorem capacity_upper_real (S : {set 'I_T}) (x : weights R d w dv 1 H) k (x' : 'I_k -> weights R d w dv 1 H) :
  (\rank (\matrix_(t, j) tangent E e (attention x) x (x' j) t) <= N H w E e S + (T - #|S|))%N.
Proof. by apply: capacity_upper => t h; apply: attention_sum. Qed.
End Real.
