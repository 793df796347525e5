(* Several layers from above (docs/depth.md, Theorem 1): for all weights and all data the Jacobian of the outputs by all weights
   has rank at most N_L. This is the algebra, with derivatives by the chain rule, written out below; derivative.v shows that they
   are the derivatives. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import capacity.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* The largest dimension of {A Q^T + K B^T} for K of size a x w and Q of size b x w. *)
Definition products_rank (w a b : nat) : nat := let rho := minn w (minn a b) in (rho * (a + b - rho))%N.

Lemma products_rankC w a b : products_rank w a b = products_rank w b a.
Proof. by rewrite /products_rank (minnC a) (addnC a). Qed.
Lemma products_rank_narrow w a b : (w <= a)%N -> (w <= b)%N -> products_rank w a b = (w * (a + b - w))%N.
Proof. by move=> wa wb; rewrite /products_rank (minn_idPl _) // leq_min wa. Qed.
Lemma products_rank_wide w a b : (minn a b <= w)%N -> products_rank w a b = (a * b)%N.
Proof. by move=> abw; rewrite /products_rank (minn_idPr abw); case: leqP => _; rewrite ?addKn ?addnK // mulnC. Qed.

Lemma products_rank_left w a a' b : (a <= a')%N -> (products_rank w a b <= products_rank w a' b)%N.
Proof.
move=> aa; case: (leqP w b) => wb; last first.
  by rewrite !products_rank_wide ?leq_mul2r ?aa ?orbT // geq_min (ltnW wb) orbT.
case: (leqP w a) => wa.
  by rewrite (products_rank_narrow wa wb) (products_rank_narrow (leq_trans wa aa) wb) leq_mul2l leq_sub2r ?orbT // leq_add2r.
rewrite (products_rank_wide (a := a)) ?geq_min ?(ltnW wa) //.
case: (leqP w a') => wa'.
  by rewrite products_rank_narrow // leq_mul ?(ltnW wa) // -addnBAC // leq_addl.
by rewrite products_rank_wide ?geq_min ?(ltnW wa') // leq_mul2r aa orbT.
Qed.
Lemma products_rank_mono w a a' b b' : (a <= a')%N -> (b <= b')%N -> (products_rank w a b <= products_rank w a' b')%N.
Proof.
move=> aa bb; apply: leq_trans (products_rank_left _ _ aa) _.
by rewrite (products_rankC _ a') (products_rankC _ a') products_rank_left.
Qed.

(* "The image of the Jacobian is the sum of its images": what vanishes wherever some matrices do has no larger rank than they
   have together. *)
Section Codimension.
Variables (F : fieldType) (k : nat).

Definition codimension (A : 'M[F]_k) c := (k <= \rank A + c)%N.

Lemma codimension_cap A B a b : codimension A a -> codimension B b -> codimension (A :&: B)%MS (a + b).
Proof.
rewrite /codimension => Aa Bb; have := mxrank_sum_cap A B; have := rank_leq_col (A + B)%MS.
move: (\rank (A + B)%MS) (\rank (A :&: B)%MS) (\rank A) (\rank B) Aa Bb => s c x y Aa Bb sk E.
have : (k + k <= (x + a) + (y + b))%N by apply: leq_add.
rewrite addnACA -E -addnA => H; rewrite -(leq_add2l k); apply: leq_trans H _.
by rewrite leq_add2r.
Qed.

Lemma codimension_bigcap (I : finType) (A : I -> 'M[F]_k) (c : I -> nat) :
  (forall i, codimension (A i) (c i)) -> codimension (\bigcap_i A i)%MS (\sum_i c i).
Proof.
move=> Ac; apply: (big_rec2 (fun A c => codimension A c)) => [|i a B _ Ba]; last exact: codimension_cap.
by rewrite /codimension mxrank1 leq_addr.
Qed.

Lemma codimension_ker n (A : 'M[F]_(k, n)) c : (\rank A <= c)%N -> codimension (kermx A) c.
Proof.
by move=> Ac; rewrite /codimension mxrank_ker; apply: leq_trans (leq_add (leqnn _) Ac); rewrite subnK // rank_leq_row.
Qed.

Lemma rank_codimension n (A : 'M[F]_(k, n)) B c : codimension B c -> (B <= kermx A)%MS -> (\rank A <= c)%N.
Proof.
move=> Bc /mxrankS BA; rewrite -(leq_add2l (\rank (kermx A))).
rewrite {1}mxrank_ker subnK ?rank_leq_row //; apply: leq_trans Bc _; by rewrite leq_add2r.
Qed.
End Codimension.

Lemma rank_sums (F : fieldType) (I : finType) (P : pred I) d (A : I -> 'M[F]_d) c :
  (forall i, P i -> \rank (A i) <= c)%N -> (\rank (\sum_(i | P i) A i)%MS <= #|P| * c)%N.
Proof.
move=> Ac; rewrite -sum_nat_const.
apply: (big_rec2 (fun (A : 'M[F]_d) s => \rank A <= s)%N) => [|i s B Pi Bs]; first by rewrite mxrank0.
by apply: leq_trans (mxrank_adds_leqif _ _) _; rewrite leq_add ?Ac.
Qed.

Section Vanish.
Variables (F : fieldType).
Lemma vanish_right m n k l (A : 'M[F]_(k, n)) (B : 'M[F]_(l, n)) (S : 'M[F]_(m, n)) :
  (B <= A)%MS -> S *m A^T = 0 -> S *m B^T = 0.
Proof. by case/submxP => c ->; rewrite trmx_mul mulmxA => ->; rewrite mul0mx. Qed.
Lemma vanish_left m n k l (A : 'M[F]_(k, n)) (B : 'M[F]_(l, n)) (S : 'M[F]_(n, m)) :
  (B <= A)%MS -> A *m S = 0 -> B *m S = 0.
Proof. by case/submxP => c -> E; rewrite -mulmxA E mulmx0. Qed.
End Vanish.

Section Depth.
Variables (F : fieldType) (T H k n d w v m : nat).

(* Section 1. The state of an example is k vectors: the tokens, and the query where it is not a token. All of them attend to the
   tokens; one, the query, reads out. *)
Variables (token : 'I_n.+1 -> 'I_k) (query_at : 'I_k).
Definition tokens (S : 'M[F]_(k, d)) : 'M[F]_(n.+1, d) := rowsub token S.

(* What the heads of a layer add, P h the attention of the k vectors in head h. *)
Definition heads m' (z : weights F d w v m' H) (S : 'M[F]_(k, d)) (P : 'I_H -> 'M[F]_(k, n.+1)) : 'M[F]_(k, m') :=
  \sum_h P h *m tokens S *m (value z h *m out z h).

(* Its derivative, where K Q^T moves by M, V O by W, and the state by S'. The logits of all vectors are (X K Q^T S^T)^T with the
   tokens X; a softmax p moves by l' (diag p - p^T p) if its logits move by l'. *)
Definition logits_change m' (z : weights F d w v m' H) (M : 'I_H -> 'M[F]_d) (S S' : 'M[F]_(k, d)) h : 'M[F]_(k, n.+1) :=
  (tokens S' *m (key z h *m (query z h)^T) *m S^T + tokens S *m M h *m S^T + tokens S *m (key z h *m (query z h)^T) *m S'^T)^T.
Definition softmax_change (P l' : 'M[F]_(k, n.+1)) : 'M[F]_(k, n.+1) :=
  \matrix_a (row a l' *m (diag_mx (row a P) - (row a P)^T *m row a P)).
Definition heads_change m' (z : weights F d w v m' H) (M : 'I_H -> 'M[F]_d) (W : 'I_H -> 'M[F]_(d, m'))
    (S S' : 'M[F]_(k, d)) (P : 'I_H -> 'M[F]_(k, n.+1)) : 'M[F]_(k, m') :=
  \sum_h (softmax_change (P h) (logits_change z M S S' h) *m tokens S *m (value z h *m out z h) +
          P h *m tokens S' *m (value z h *m out z h) + P h *m tokens S *m W h).

(* Layers 0, .., L-1 add to the state, and layer L reads out. *)
Variables (L : nat) (data : 'I_T -> 'M[F]_(k, d)) (x : nat -> weights F d w v d H) (y : weights F d w v m H).
(* The attention, whatever it is: numbers that add up to 1. *)
Variable p : nat -> 'I_T -> 'I_H -> 'M[F]_(k, n.+1).
Hypothesis sum_p : forall l t h a, \sum_i p l t h a i = 1.

Fixpoint state l t : 'M[F]_(k, d) := if l is i.+1 then state i t + heads (x i) (state i t) (p i t) else data t.
Fixpoint state_change (x' : nat -> weights F d w v d H) l t : 'M[F]_(k, d) :=
  if l is i.+1 then
    state_change x' i t +
      heads_change (x i) (head_change (x i) (x' i)) (value_change (x i) (x' i)) (state i t) (state_change x' i t) (p i t)
  else 0.
Definition output_change (x' : nat -> weights F d w v d H) (y' : weights F d w v m H) t : 'rV[F]_m :=
  row query_at (heads_change y (head_change y y') (value_change y y') (state L t) (state_change x' L t) (p L t)).

(* What is spanned before layer l, by the differences of tokens of one context, by the tokens, by the vectors that attend; and
   the directions in which layers l, l+1, .. read: values only as far as the layers after them read their outputs. *)
Definition differences_at l t : 'M[F]_(n.+1, d) := differences (fun t => tokens (state l t)) t.
Definition span_differences l := (\sum_t <<differences_at l t>>)%MS.
Definition span_tokens l := (\sum_t <<tokens (state l t)>>)%MS.
Definition span_attending l := (\sum_t if (l < L)%N then <<state l t>> else <<row query_at (state l t)>>)%MS.
Definition read m' c (z : weights F d w v m' H) (R : 'M[F]_(c, m')) : 'M[F]_d :=
  (\sum_h (<<(key z h)^T>> + <<(query z h)^T>> + <<R *m (value z h *m out z h)^T>>))%MS.
Fixpoint reads_of_last i : 'M[F]_d :=
  if i is i'.+1 then (reads_of_last i' + read (x (L - i)) (reads_of_last i'))%MS else read y 1%:M.
Definition reads l := reads_of_last (L - l).

Definition N_layers : nat :=
  (\sum_(l < L) H * (products_rank w (\rank (span_differences l)) (\rank (span_attending l)) +
                     products_rank v (\rank (span_tokens l)) (\rank (reads l.+1))) +
   H * (products_rank w (\rank (span_differences L)) (\rank (span_attending L)) +
        products_rank v (\rank (span_tokens L)) m))%N.

(* The derivative is linear in the direction. *)
Section Linear.
Variables (K : nat) (u : 'I_K -> F).
Lemma mul_combination a b c e (A : 'M[F]_(a, b)) (B : 'I_K -> 'M[F]_(b, c)) (C : 'M[F]_(c, e)) :
  \sum_j u j *: (A *m B j *m C) = A *m (\sum_j u j *: B j) *m C.
Proof. by rewrite mulmx_sumr mulmx_suml; apply: eq_bigr => j _; rewrite -scalemxAr -scalemxAl. Qed.
Lemma tr_combination a b (B : 'I_K -> 'M[F]_(a, b)) : \sum_j u j *: (B j)^T = (\sum_j u j *: B j)^T.
Proof. by apply/matrixP => r c; rewrite mxE 2!summxE; apply: eq_bigr => j _; rewrite !mxE. Qed.
Lemma row_combination a b (B : 'I_K -> 'M[F]_(a, b)) r : row r (\sum_j u j *: B j) = \sum_j u j *: row r (B j).
Proof. by apply/matrixP => i c; rewrite mxE !summxE; apply: eq_bigr => j _; rewrite !mxE. Qed.

Lemma tokensE S : tokens S = rowsub token 1%:M *m S.
Proof. exact: rowsubE. Qed.

Lemma logits_change_sum m' (z : weights F d w v m' H) M S S' h :
  \sum_j u j *: logits_change z (M j) S (S' j) h = logits_change z (fun h => \sum_j u j *: M j h) S (\sum_j u j *: S' j) h.
Proof.
rewrite /logits_change tr_combination; congr (_^T).
under eq_bigr => j _ do rewrite 2!scalerDr.
rewrite 2!big_split /=; congr (_ + _ + _).
- under eq_bigr => j _ do rewrite tokensE -2!mulmxA mulmxA.
  by rewrite mul_combination tokensE !mulmxA.
- exact: mul_combination.
by rewrite -tr_combination mulmx_sumr; apply: eq_bigr => j _; rewrite scalemxAr.
Qed.

Lemma softmax_change_sum P (l : 'I_K -> 'M[F]_(k, n.+1)) :
  \sum_j u j *: softmax_change P (l j) = softmax_change P (\sum_j u j *: l j).
Proof.
apply/row_matrixP => a; rewrite row_combination rowK row_combination mulmx_suml.
by apply: eq_bigr => j _; rewrite rowK scalemxAl.
Qed.

Lemma heads_change_sum m' (z : weights F d w v m' H) M W S S' P :
  \sum_j u j *: heads_change z (M j) (W j) S (S' j) P =
  heads_change z (fun h => \sum_j u j *: M j h) (fun h => \sum_j u j *: W j h) S (\sum_j u j *: S' j) P.
Proof.
under eq_bigr => j _ do rewrite scaler_sumr.
rewrite exchange_big /=; apply: eq_bigr => h _.
under eq_bigr => j _ do rewrite 2!scalerDr.
rewrite 2!big_split /= -logits_change_sum -softmax_change_sum; congr (_ + _ + _).
- by rewrite 2!mulmx_suml; apply: eq_bigr => j _; rewrite -2!scalemxAl.
- transitivity (P h *m rowsub token 1%:M *m (\sum_j u j *: S' j) *m (value z h *m out z h)).
    by rewrite -mul_combination; apply: eq_bigr => j _; rewrite tokensE (mulmxA (P h)).
  by rewrite tokensE (mulmxA (P h)).
by rewrite mulmx_sumr; apply: eq_bigr => j _; rewrite scalemxAr.
Qed.
End Linear.

(* "A softmax does not change if all logits of a row are shifted": what is 0 on the differences, and in what is read, is not seen. *)
Lemma softmax_shift (q : 'rV[F]_n.+1) (r : 'M[F]_1) : \sum_i q 0 i = 1 ->
  (const_mx 1 *m r : 'cV_n.+1)^T *m (diag_mx q - q^T *m q) = 0.
Proof.
move=> q1; apply: trmx_inj; rewrite trmx0 trmx_mul trmxK linearB /= tr_diag_mx trmx_mul trmxK mulmxA.
suff -> : (diag_mx q - q^T *m q) *m const_mx 1 = 0 :> 'cV_n.+1 by rewrite mul0mx.
have one : q *m const_mx 1 = 1%:M :> 'M_1.
  by apply/matrixP => i j; rewrite !ord1 [LHS]mxE [RHS]mxE eqxx mulr1n -[RHS]q1; apply: eq_bigr => s _; rewrite mxE mulr1.
rewrite mulmxBl -mulmxA one mulmx1; apply/eqP; rewrite subr_eq0; apply/eqP/matrixP => i j.
by rewrite !ord1 mul_diag_mx !mxE mulr1.
Qed.

Lemma heads_vanish m' c (z : weights F d w v m' H) M W S S' (P : 'I_H -> 'M[F]_(k, n.+1)) (R : 'M[F]_(m', c)) a :
  (forall h, \sum_i P h a i = 1) ->
  (forall h, [/\ S' *m key z h = 0, S' *m query z h = 0 & S' *m (value z h *m out z h) *m R = 0]) ->
  (forall h, (tokens S - const_mx 1 *m row ord0 (tokens S)) *m M h *m (row a S)^T = 0) ->
  (forall h, tokens S *m W h *m R = 0) -> row a (heads_change z M W S S' P) *m R = 0.
Proof.
move=> P1 S0 M0 W0; rewrite /heads_change linear_sum /= mulmx_suml big1 // => h _.
have [Sk Sq Sv] := S0 h.
have mid : P h *m tokens S' *m (value z h *m out z h) *m R = 0.
  by rewrite tokensE -3!mulmxA (mulmxA S') Sv 2!mulmx0.
have last : P h *m tokens S *m W h *m R = 0 by rewrite -2!mulmxA (mulmxA (tokens S)) W0 mulmx0.
rewrite 2!linearD /= 2!mulmxDl -(row_mul a (P h *m tokens S *m W h)) last row0 addr0.
rewrite -(row_mul a (P h *m tokens S' *m (value z h *m out z h))) mid row0 addr0 2!row_mul rowK.
suff -> : row a (logits_change z M S S' h) *m (diag_mx (row a (P h)) - (row a (P h))^T *m row a (P h)) = 0 by rewrite !mul0mx.
have -> : row a (logits_change z M S S' h) = (tokens S *m M h *m (row a S)^T)^T.
  rewrite /logits_change (tokensE S') -(mulmxA _ S') (mulmxA S') Sk !mul0mx mulmx0 mul0mx add0r.
  rewrite -(mulmxA _ _ (S'^T)) -(mulmxA (key z h)) -trmx_mul Sq trmx0 2!mulmx0 addr0.
  by rewrite -tr_col colE -mulmxA -colE tr_row.
have E : tokens S = (tokens S - const_mx 1 *m row ord0 (tokens S)) + const_mx 1 *m row ord0 (tokens S) by rewrite subrK.
rewrite {1}E 2!mulmxDl M0 add0r -2!mulmxA softmax_shift //.
by rewrite -[RHS](P1 h); apply: eq_bigr => i _; rewrite mxE.
Qed.

Lemma reads_parts m' c (z : weights F d w v m' H) (R : 'M[F]_(c, m')) (A : 'M[F]_d) (S : 'M[F]_(k, d)) :
  (read z R <= A)%MS -> S *m A^T = 0 ->
  forall h, [/\ S *m key z h = 0, S *m query z h = 0 & S *m (value z h *m out z h) *m R^T = 0].
Proof.
move=> /sumsmx_subP zA SA h; have := zA h isT; rewrite !addsmx_sub !genmxE => /andP [/andP [Ak Aq] Av].
have Sv : S *m (value z h *m out z h) *m R^T = 0 by have := vanish_right Av SA; rewrite trmx_mul trmxK -mulmxA.
by split=> //; rewrite -[X in _ *m X]trmxK; [apply: vanish_right Ak SA | apply: vanish_right Aq SA].
Qed.

Lemma reads_step l : (l < L)%N -> reads l = (reads l.+1 + read (x l) (reads l.+1))%MS.
Proof. by move=> lL; rewrite /reads -(subnSK lL) /= (subnSK lL) subKn // ltnW. Qed.

(* A combination of directions, and the matrices on which the output depends. *)
Section Combination.
Variables (K : nat) (x' : 'I_K -> nat -> weights F d w v d H) (y' : 'I_K -> weights F d w v m H) (u : 'I_K -> F).
Hypothesis inner_heads : forall (l : 'I_L) h, row_base (span_differences l) *m
  (\sum_j u j *: head_change (x l) (x' j l) h) *m (row_base (span_attending l))^T = 0.
Hypothesis inner_values : forall (l : 'I_L) h, row_base (span_tokens l) *m
  (\sum_j u j *: value_change (x l) (x' j l) h) *m (row_base (reads l.+1))^T = 0.
Hypothesis last_heads : forall h, row_base (span_differences L) *m
  (\sum_j u j *: head_change y (y' j) h) *m (row_base (span_attending L))^T = 0.
Hypothesis last_values : forall h, row_base (span_tokens L) *m (\sum_j u j *: value_change y (y' j) h) = 0.

Lemma spanned_differences l t M a : row_base (span_differences l) *m M *m (row_base (span_attending l))^T = 0 ->
  (l < L)%N || (a == query_at) ->
  (tokens (state l t) - const_mx 1 *m row ord0 (tokens (state l t))) *m M *m (row a (state l t))^T = 0.
Proof.
move=> E la; apply: (@vanish_right _ _ _ _ _ (row_base (span_attending l))).
  rewrite eq_row_base; apply: (sumsmx_sup t) => //.
  by case: ifP la => [_ _|_ /= /eqP ->]; rewrite genmxE // row_sub.
rewrite -mulmxA; apply: (@vanish_left _ _ _ _ _ (row_base (span_differences l))); last by rewrite mulmxA.
by rewrite eq_row_base; apply: (sumsmx_sup t) => //; rewrite genmxE.
Qed.

Lemma spanned_tokens l t c (W : 'M[F]_(d, c)) : row_base (span_tokens l) *m W = 0 -> tokens (state l t) *m W = 0.
Proof. by apply: vanish_left; rewrite eq_row_base; apply: (sumsmx_sup t) => //; rewrite genmxE. Qed.

Lemma state_change_unseen l t : (l <= L)%N -> (\sum_j u j *: state_change (x' j) l t) *m (reads l)^T = 0.
Proof.
elim: l => [_|l IH lL]; first by rewrite big1 ?mul0mx // => j _; rewrite scaler0.
have below : (reads l.+1 <= reads l)%MS by rewrite (reads_step lL) addsmxSl.
have here : (read (x l) (reads l.+1) <= reads l)%MS by rewrite (reads_step lL) addsmxSr.
have {}IH := IH (ltnW lL).
under eq_bigr => j _ do rewrite /= scalerDr.
rewrite big_split /= mulmxDl (vanish_right below IH) add0r heads_change_sum; apply/row_matrixP => a; rewrite row_mul row0.
apply: heads_vanish => [h|h|h|h]; first exact: sum_p.
- exact: reads_parts here IH h.
- by apply: spanned_differences; [apply: (inner_heads (Ordinal lL)) | rewrite lL].
apply: (@vanish_right _ _ _ _ _ (row_base (reads l.+1))); first by rewrite eq_row_base.
by rewrite -mulmxA; apply: spanned_tokens; rewrite mulmxA; apply: (inner_values (Ordinal lL)).
Qed.

Lemma output_change_unseen t : \sum_j u j *: output_change (x' j) (y' j) t = 0.
Proof.
rewrite -row_combination heads_change_sum -[LHS]mulmx1.
have here : (read y (1%:M : 'M_m) <= reads L)%MS by rewrite /reads subnn.
apply: heads_vanish => [h|h|h|h]; first exact: sum_p.
- by have := reads_parts here (state_change_unseen t (leqnn L)) h; rewrite trmx1.
- by apply: spanned_differences; [apply: last_heads | rewrite eqxx orbT].
by rewrite mulmx1; apply: spanned_tokens.
Qed.
End Combination.

Section Bound.
Variables (K : nat) (x' : 'I_K -> nat -> weights F d w v d H) (y' : 'I_K -> weights F d w v m H).

(* The matrices on which the output depends, with the ranks of products. *)
Lemma rank_heads m' (z : weights F d w v m' H) (z' : 'I_K -> weights F d w v m' H) a b (B : 'M[F]_(a, d)) (G : 'M[F]_(b, d)) h :
  (\rank (\matrix_j mxvec (B *m head_change z (z' j) h *m G^T)) <= products_rank w a b)%N.
Proof.
have := rank_products (B *m key z h) (G *m query z h) (fun j => B *m key (z' j) h) (fun j => G *m query (z' j) h).
congr (\rank _ <= _)%N; apply/row_matrixP => j; rewrite !rowK /head_change; congr mxvec.
by rewrite !trmx_mul mulmxDr mulmxDl !mulmxA.
Qed.
Lemma rank_values m' (z : weights F d w v m' H) (z' : 'I_K -> weights F d w v m' H) a b (B : 'M[F]_(a, d)) (G : 'M[F]_(m', b)) h :
  (\rank (\matrix_j mxvec (B *m value_change z (z' j) h *m G)) <= products_rank v a b)%N.
Proof.
have := rank_products (B *m value z h) (out z h *m G)^T (fun j => B *m value (z' j) h) (fun j => (out (z' j) h *m G)^T).
congr (\rank _ <= _)%N; apply/row_matrixP => j; rewrite !rowK /value_change; congr mxvec.
by rewrite !trmxK mulmxDr mulmxDl !mulmxA.
Qed.

Lemma ker_combination a b (B : 'I_K -> 'M[F]_(a, b)) (u : 'rV[F]_K) :
  (u <= kermx (\matrix_j mxvec (B j)))%MS -> \sum_j u 0 j *: B j = 0.
Proof.
move=> /sub_kermxP; rewrite mulmx_sum_row => E; apply: (can_inj mxvecK); rewrite linear0 -[RHS]E linear_sum /=.
by apply: eq_bigr => j _; rewrite linearZ rowK.
Qed.

(* J has a row for each direction; any K directions. *)
Lemma depth_upper_spans : (\rank (\matrix_(j < K) mxvec (\matrix_t output_change (x' j) (y' j) t)) <= N_layers)%N.
Proof.
pose inner (l : 'I_L) h := (kermx (\matrix_j mxvec (row_base (span_differences l) *m head_change (x l) (x' j l) h *m
    (row_base (span_attending l))^T)) :&: kermx (\matrix_j mxvec (row_base (span_tokens l) *m value_change (x l) (x' j l) h *m
    (row_base (reads l.+1))^T)))%MS.
pose last h := (kermx (\matrix_j mxvec (row_base (span_differences L) *m head_change y (y' j) h *m
    (row_base (span_attending L))^T)) :&: kermx (\matrix_j mxvec (row_base (span_tokens L) *m value_change y (y' j) h *m 1%:M)))%MS.
apply: (@rank_codimension _ _ _ _ (\bigcap_l \bigcap_h inner l h :&: \bigcap_h last h)%MS).
  apply: codimension_cap.
    apply: codimension_bigcap => l; rewrite -[X in (X * _)%N](card_ord H) -sum_nat_const; apply: codimension_bigcap => h.
    by apply: codimension_cap; apply: codimension_ker; [apply: rank_heads | apply: rank_values].
  rewrite -[X in (X * _)%N](card_ord H) -sum_nat_const; apply: codimension_bigcap => h.
  by apply: codimension_cap; apply: codimension_ker; [apply: rank_heads | apply: rank_values].
apply/row_subP => i; move: (row_sub i (\bigcap_l \bigcap_h inner l h :&: \bigcap_h last h)%MS); move: (row i _) => u.
rewrite sub_capmx => /andP [/sub_bigcapmxP innerP /sub_bigcapmxP lastP]; apply/sub_kermxP.
rewrite mulmx_sum_row; under eq_bigr => j _ do rewrite rowK -linearZ /=.
rewrite -linear_sum /= -[RHS](linear0 (mxvec_linear _ _ _)); congr mxvec; apply/row_matrixP => t.
rewrite row_combination row0; under eq_bigr => j _ do rewrite rowK.
apply: (output_change_unseen (u := fun j => u 0 j)) => [l h|l h|h|h].
- have /sub_bigcapmxP/(_ h isT) := innerP l isT; rewrite sub_capmx => /andP [/ker_combination E _].
  by rewrite -mul_combination.
- have /sub_bigcapmxP/(_ h isT) := innerP l isT; rewrite sub_capmx => /andP [_ /ker_combination E].
  by rewrite -mul_combination.
- have := lastP h isT; rewrite sub_capmx => /andP [/ker_combination E _].
  by rewrite -mul_combination.
have := lastP h isT; rewrite sub_capmx => /andP [_ /ker_combination E].
by rewrite -[LHS]mulmx1 -mul_combination.
Qed.
End Bound.
End Depth.

Section Sizes.
Variables (F : fieldType) (T H k n d w v m L : nat) (token : 'I_n.+1 -> 'I_k) (query_at : 'I_k).
Variables (data : 'I_T -> 'M[F]_(k, d)) (x : nat -> weights F d w v d H) (y : weights F d w v m H).
Variable p : nat -> 'I_T -> 'I_H -> 'M[F]_(k, n.+1).
Local Notation state := (state token data x p).

(* What all vectors span before layer l: at most s_l dimensions, l counted from 0; and at most r_l directions are read. *)
Definition span_vectors l : 'M[F]_d := (\sum_t <<state l t>>)%MS.
Definition s_at l : nat := minn d (\rank (span_vectors 0) + l * (H * v)).
Fixpoint R_of_last i : nat :=
  if i is i'.+1 then (R_of_last i' + H * (2 * w + minn v (minn d (R_of_last i'))))%N else (H * (2 * w + minn v m))%N.
Definition r_at l : nat := minn d (R_of_last (L - l)).

Lemma rank_product a b c (A : 'M[F]_(a, b)) (B : 'M[F]_(b, c)) : (\rank (A *m B) <= b)%N.
Proof. exact: leq_trans (mxrankM_maxl _ _) (rank_leq_col _). Qed.

Lemma rank_vectors l : (\rank (span_vectors l) <= s_at l)%N.
Proof.
rewrite leq_min rank_leq_col /=; elim: l => [|l IH]; first by rewrite mul0n addn0.
have : (span_vectors l.+1 <= span_vectors l + \sum_h <<value (x l) h *m out (x l) h>>)%MS.
  apply/sumsmx_subP => t _; rewrite genmxE /= addmx_sub_adds //; first by apply: (sumsmx_sup t); rewrite ?genmxE.
  apply: summx_sub => h _; apply: (sumsmx_sup h) => //; rewrite genmxE; exact: submxMl.
move=> /mxrankS; move/leq_trans; apply; apply: leq_trans (mxrank_adds_leqif _ _) _.
rewrite mulSn (addnC (H * v)%N) addnA leq_add // -[X in (X * _)%N](card_ord H); apply: rank_sums => h _.
by rewrite genmxE; apply: rank_product.
Qed.

Lemma rank_read m' c (z : weights F d w v m' H) (R : 'M[F]_(c, m')) : (\rank (read z R) <= H * (2 * w + minn v (\rank R)))%N.
Proof.
rewrite -[X in (X * _)%N](card_ord H); apply: rank_sums => h _.
rewrite mul2n -addnn; apply: leq_trans (mxrank_adds_leqif _ _) _; apply: leq_add.
  by apply: leq_trans (mxrank_adds_leqif _ _) _; rewrite !genmxE !mxrank_tr leq_add ?rank_leq_col.
by rewrite genmxE leq_min mxrankM_maxl andbT trmx_mul mulmxA rank_product.
Qed.

Lemma rank_reads l : (\rank (reads L x y l) <= r_at l)%N.
Proof.
rewrite /reads /r_at; elim: (L - l)%N => [|i IH]; rewrite leq_min rank_leq_col /=.
  by apply: leq_trans (rank_read _ _) _; rewrite mxrank1.
apply: leq_trans (mxrank_adds_leqif _ _) _; apply: leq_add; first by apply: leq_trans IH (geq_minr _ _).
apply: leq_trans (rank_read _ _) _; rewrite leq_mul2l leq_add2l; apply/orP; right.
by rewrite leq_min geq_minl (leq_trans (geq_minr _ _) IH).
Qed.

(* N_L in sizes: a_1, q_1, t_1 of the data before the first layer, s_l after it. *)
Definition N_L (a1 q1 t1 : nat) : nat :=
  let a l := if l is 0 then a1 else s_at l in
  let q l := if l is 0 then q1 else s_at l in
  let t l := if l is 0 then t1 else s_at l in
  (\sum_(l < L) H * (products_rank w (a l) (q l) + products_rank v (t l) (r_at l.+1)) +
   H * (products_rank w (a L) (q L) + products_rank v (t L) m))%N.

Lemma differences_vectors l : (span_differences token data x p l <= span_vectors l)%MS.
Proof.
apply/sumsmx_subP => t _; apply: (sumsmx_sup t) => //; rewrite !genmxE /differences_at /differences.
have sub : (tokens token (state l t) <= state l t)%MS by apply: rowsub_sub.
by rewrite addmx_sub ?eqmx_opp // (submx_trans (submxMl _ _)) // (submx_trans (row_sub _ _)).
Qed.
Lemma tokens_vectors l : (span_tokens token data x p l <= span_vectors l)%MS.
Proof. by apply/sumsmx_subP => t _; apply: (sumsmx_sup t) => //; rewrite !genmxE; apply: rowsub_sub. Qed.
Lemma attending_vectors l : (span_attending token query_at L data x p l <= span_vectors l)%MS.
Proof.
apply/sumsmx_subP => t _; apply: (sumsmx_sup t) => //; case: ifP => _ //.
by rewrite !genmxE row_sub.
Qed.

Lemma N_layers_L : (N_layers token query_at L data x y p <= N_L (\rank (span_differences token data x p 0))
  (\rank (span_attending token query_at L data x p 0)) (\rank (span_tokens token data x p 0)))%N.
Proof.
have least A l : (A <= span_vectors l)%MS -> (\rank A <= if l is 0 then \rank A else s_at l)%N.
  by case: l => // l /mxrankS/leq_trans; apply; apply: rank_vectors.
have part l : (products_rank w (\rank (span_differences token data x p l)) (\rank (span_attending token query_at L data x p l)) <=
    products_rank w (if l is 0 then \rank (span_differences token data x p 0) else s_at l)
      (if l is 0 then \rank (span_attending token query_at L data x p 0) else s_at l))%N.
  apply: products_rank_mono.
    by case: l (least _ _ l (differences_vectors l)).
  by case: l (least _ _ l (attending_vectors l)).
have more l r r' : (r <= r')%N -> (products_rank v (\rank (span_tokens token data x p l)) r <=
    products_rank v (if l is 0 then \rank (span_tokens token data x p 0) else s_at l) r')%N.
  move=> rr; apply: products_rank_mono => //.
  by case: l (least _ _ l (tokens_vectors l)).
apply: leq_add; last by rewrite leq_mul2l leq_add ?part ?more ?orbT.
by apply: leq_sum => l _; rewrite leq_mul2l leq_add ?part ?more ?orbT ?rank_reads.
Qed.

(* "For all data and all weights the Jacobian has rank at most N_L": a row for each direction, any K directions. *)
Theorem depth_upper K (x' : 'I_K -> nat -> weights F d w v d H) (y' : 'I_K -> weights F d w v m H) :
  (forall l t h a, \sum_i p l t h a i = 1) ->
  (\rank (\matrix_(j < K) mxvec (\matrix_t output_change token query_at L data x y p (x' j) (y' j) t)) <=
   N_L (\rank (span_differences token data x p 0)) (\rank (span_attending token query_at L data x p 0))
     (\rank (span_tokens token data x p 0)))%N.
Proof. by move=> p1; apply: leq_trans N_layers_L; apply: depth_upper_spans. Qed.
End Sizes.

From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer impossible.

(* Over the real numbers, with the true exponential: the attention of the network itself. *)
Section Real.
Variables (R : realType) (T H k n d w v m L : nat) (token : 'I_n.+1 -> 'I_k) (query_at : 'I_k).
Variables (data : 'I_T -> 'M[R]_(k, d)) (x : nat -> weights R d w v d H) (y : weights R d w v m H).

Definition attention_in m' (z : weights R d w v m' H) (S : 'M[R]_(k, d)) h : 'M[R]_(k, n.+1) :=
  \matrix_(a, i) softmax (@expR R) (logits (tokens token S) (row a S) (key z h *m (query z h)^T)) i.
Fixpoint real_state l t : 'M[R]_(k, d) :=
  if l is i.+1 then real_state i t + heads token (x i) (real_state i t) (attention_in (x i) (real_state i t)) else data t.
Definition real_attention l t h : 'M[R]_(k, n.+1) :=
  if (l < L)%N then attention_in (x l) (real_state l t) h else attention_in y (real_state l t) h.

Lemma real_attention_sum l t h a : \sum_i real_attention l t h a i = 1.
Proof. by rewrite /real_attention; case: ifP => _; under eq_bigr => i _ do rewrite mxE; apply: sum_softmax. Qed.
Lemma real_stateE l t : (l <= L)%N -> state token data x real_attention l t = real_state l t.
Proof.
elim: l => [//|l IH lL].
have attention_l t' : real_attention l t' = attention_in (x l) (real_state l t').
  by apply: funext => h; rewrite /real_attention lL.
by rewrite /= IH ?(ltnW lL) // attention_l.
Qed.

Theorem depth_upper_real K (x' : 'I_K -> nat -> weights R d w v d H) (y' : 'I_K -> weights R d w v m H) :
  (\rank (\matrix_(j < K) mxvec (\matrix_t output_change token query_at L data x y real_attention (x' j) (y' j) t)) <=
   N_L m L token data x real_attention (\rank (span_differences token data x real_attention 0))
     (\rank (span_attending token query_at L data x real_attention 0)) (\rank (span_tokens token data x real_attention 0)))%N.
Proof. by apply: depth_upper => l t h a; apply: real_attention_sum. Qed.
End Real.
