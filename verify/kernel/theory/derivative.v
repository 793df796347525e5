(* Formula (1) of docs/given-labels.md and the chain rule of docs/depth.md are derivatives: along any line of weights the outputs
   move as capacity.v and depth.v say, over the real numbers with the true exponential. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets functions reals topology normedtype derive realfun sequences exp.
Require Import layer capacity depth.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory numFieldNormedType.Exports.
Local Open Scope ring_scope.

(* Matrices that depend on a real number s, and their derivatives at s = 0. *)
Section Moves.
Variable R : realType.
Definition slope_of (f : R -> R) (f' : R) : Prop := is_derive (0 : R) (1 : R) f f'.
(* The derivative of f at 0, as MathComp-Analysis defines it. *)
Definition derivative (f : R -> R) : R := 'D_1 f 0.
Lemma slopeE f f' : slope_of f f' -> derivative f = f'.
Proof. by move=> F; apply: derive_val. Qed.

Definition moves m n (A : R -> 'M[R]_(m, n)) (A' : 'M[R]_(m, n)) : Prop := forall i j, slope_of (fun s => A s i j) (A' i j).

Lemma slope_eq f g f' g' : slope_of f f' -> f =1 g -> f' = g' -> slope_of g g'.
Proof. by move=> H /funext <- <-. Qed.
Lemma slope_const c : slope_of (fun=> c) 0.
Proof. exact: is_derive_cst. Qed.
Lemma slope_add f g f' g' : slope_of f f' -> slope_of g g' -> slope_of (fun s => f s + g s) (f' + g').
Proof. by move=> F G; exact: is_deriveD. Qed.
Lemma slope_mul f g f' g' : slope_of f f' -> slope_of g g' -> slope_of (fun s => f s * g s) (f' * g 0 + f 0 * g').
Proof. by move=> F G; apply: slope_eq (is_deriveM F G) _ _ => //=; rewrite addrC; congr (_ + _); rewrite [LHS]mulrC. Qed.
Lemma slope_sum n (f : 'I_n -> R -> R) f' : (forall i, slope_of (f i) (f' i)) -> slope_of (fun s => \sum_i f i s) (\sum_i f' i).
Proof. by move=> F; apply: slope_eq (is_derive_sum F) _ _ => // s; rewrite fct_sumE. Qed.
Lemma slope_exp f f' : slope_of f f' -> slope_of (fun s => expR (f s)) (expR (f 0) * f').
Proof. by move=> F; apply: is_derive1_comp. Qed.
Lemma slope_inv f f' : f 0 != 0 -> slope_of f f' -> slope_of (fun s => (f s)^-1) (- (f 0) ^- 2 * f').
Proof. by move=> f0 F; exact: is_deriveV. Qed.

Lemma moves_eq m n (A B : R -> 'M[R]_(m, n)) A' B' : moves A A' -> A =1 B -> A' = B' -> moves B B'.
Proof. by move=> H /funext <- <-. Qed.
Lemma moves_const m n (A : 'M[R]_(m, n)) : moves (fun=> A) 0.
Proof. by move=> i j; rewrite mxE; apply: slope_const. Qed.
Lemma moves_line m n (A A' : 'M[R]_(m, n)) : moves (fun s => A + s *: A') A'.
Proof.
move=> i j; apply: (@slope_eq (fun s => A i j + s * A' i j) _ (0 + (1 * A' i j + 0 * 0))) => [|s|].
- apply: slope_add; [exact: slope_const|apply: slope_mul (slope_const _); exact: is_derive_id].
- by rewrite !mxE.
- by rewrite mul1r mul0r addr0 add0r.
Qed.
Lemma moves_add m n (A B : R -> 'M[R]_(m, n)) A' B' : moves A A' -> moves B B' -> moves (fun s => A s + B s) (A' + B').
Proof.
move=> HA HB i j; apply: slope_eq (slope_add (HA i j) (HB i j)) _ _ => [s|]; by rewrite mxE.
Qed.
Lemma moves_sum m n k (A : 'I_k -> R -> 'M[R]_(m, n)) A' : (forall h, moves (A h) (A' h)) -> moves (fun s => \sum_h A h s) (\sum_h A' h).
Proof.
move=> HA i j; apply: slope_eq (slope_sum (fun h => HA h i j)) _ _ => [s|]; by rewrite summxE.
Qed.
Lemma moves_mul m n k (A : R -> 'M[R]_(m, n)) (B : R -> 'M[R]_(n, k)) A' B' :
  moves A A' -> moves B B' -> moves (fun s => A s *m B s) (A' *m B 0 + A 0 *m B').
Proof.
move=> HA HB i j; apply: slope_eq (slope_sum (fun l => slope_mul (HA i l) (HB l j))) _ _ => [s|]; first by rewrite mxE.
by rewrite !mxE -big_split.
Qed.
Lemma moves_tr m n (A : R -> 'M[R]_(m, n)) A' : moves A A' -> moves (fun s => (A s)^T) A'^T.
Proof. by move=> HA i j; apply: slope_eq (HA j i) _ _ => [s|]; rewrite mxE. Qed.
Lemma moves_rows m n k (f : 'I_k -> 'I_m) (A : R -> 'M[R]_(m, n)) A' : moves A A' -> moves (fun s => rowsub f (A s)) (rowsub f A').
Proof. by move=> HA i j; apply: slope_eq (HA (f i) j) _ _ => [s|]; rewrite mxE. Qed.
Lemma moves_row m n i (A : R -> 'M[R]_(m, n)) A' : moves A A' -> moves (fun s => row i (A s)) (row i A').
Proof. by move=> HA k j; apply: slope_eq (HA i j) _ _ => [s|]; rewrite mxE. Qed.

(* A softmax p moves by l' (diag p - p^T p). *)
Lemma softmax_row n (l' p : 'rV[R]_n) j : (l' *m (diag_mx p - p^T *m p)) 0 j = l' 0 j * p 0 j - (\sum_k l' 0 k * p 0 k) * p 0 j.
Proof.
rewrite mulmxBr mul_mx_diag mulmxA !mxE; congr (_ - _); rewrite big_ord1 !mxE; congr (_ * _).
by apply: eq_bigr => k _; rewrite mxE.
Qed.
Lemma moves_softmax n (l : R -> 'I_n.+1 -> R) (l' p : 'rV[R]_n.+1) : p = \row_i softmax (@expR R) (l 0) i ->
  (forall i, slope_of (l^~ i) (l' 0 i)) -> moves (fun s => \row_i softmax (@expR R) (l s) i) (l' *m (diag_mx p - p^T *m p)).
Proof.
move=> Hp L a j; rewrite ord1 {a} softmax_row; set Z := \sum_k expR (l 0 k).
have Z0 : Z != 0.
  by rewrite gt_eqF // /Z (bigD1 ord0) //= ltr_paddr ?expR_gt0 // sumr_ge0 // => k _; apply/ltW/expR_gt0.
pose numerator := slope_exp (L j); pose denominator := slope_inv Z0 (slope_sum (fun k => slope_exp (L k))).
apply: slope_eq (slope_mul numerator denominator) _ _ => [s|]; first by rewrite mxE.
have pE k : p 0 k = expR (l 0 k) / Z by rewrite Hp mxE.
set S := \sum_k expR (l 0 k) * l' 0 k.
have -> : \sum_k l' 0 k * p 0 k = S / Z by rewrite mulr_suml; apply: eq_bigr => k _; rewrite pE mulrA [X in X / _]mulrC.
rewrite pE -/Z; set e := expR _; set x := l' 0 j.
rewrite expr2 invfM mulNr mulrN; congr (_ - _); first by rewrite mulrAC mulrC mulrA.
by rewrite [RHS]mulrC -!mulrA [S * _]mulrC.
Qed.
End Moves.

(* Weights on a line. *)
Section Line.
Variables (R : realType) (d w v m H : nat).
Implicit Types z : weights R d w v m H.
Definition line z (z' : weights R d w v m H) (s : R) : weights R d w v m H :=
  Weights (fun h => key z h + s *: key z' h) (fun h => query z h + s *: query z' h)
          (fun h => value z h + s *: value z' h) (fun h => out z h + s *: out z' h).
Lemma line0 z z' : line z z' 0 = z.
Proof. by case: z => K Q V O; rewrite /line /=; congr Weights; apply: funext => h; rewrite scale0r addr0. Qed.
Lemma head_moves z z' h : moves (fun s => key (line z z' s) h *m (query (line z z' s) h)^T) (head_change z z' h).
Proof.
apply: moves_eq (moves_mul (moves_line (key z h) (key z' h)) (moves_tr (moves_line (query z h) (query z' h)))) _ _ => //.
by rewrite !scale0r !addr0.
Qed.
Lemma value_moves z z' h : moves (fun s => value (line z z' s) h *m out (line z z' s) h) (value_change z z' h).
Proof.
apply: moves_eq (moves_mul (moves_line (value z h) (value z' h)) (moves_line (out z h) (out z' h))) _ _ => //.
by rewrite !scale0r !addr0.
Qed.
End Line.

(* Formula (1): the output of a layer, for scalar labels. *)
Section Layer.
Variables (R : realType) (T H n d w dv : nat) (E : 'I_T -> 'M[R]_(n.+1, d)) (e : 'I_T -> 'rV[R]_d).
Variable x : weights R d w dv 1 H.
Definition output_at (z : weights R d w dv 1 H) t : R := output (head_features (@expR R) E e (key z) (query z)) (value z) (out z) t 0 0.

Theorem tangent_is_derivative (x' : weights R d w dv 1 H) t : slope_of (fun s => output_at (line x x' s) t) (tangent E e (attention E e x) x x' t).
Proof.
pose z s := line x x' s; pose p h := attention E e x t h.
have feature h : moves (fun s => head_features (@expR R) E e (key (z s)) (query (z s)) t h)
    ((E t *m head_change x x' h *m (e t)^T)^T *m (diag_mx (p h) - (p h)^T *m p h) *m E t).
  have L : moves (fun s => E t *m (key (z s) h *m (query (z s) h)^T) *m (e t)^T) (E t *m head_change x x' h *m (e t)^T).
    apply: moves_eq (moves_mul (moves_mul (moves_const (E t)) (head_moves x x' h)) (moves_const (e t)^T)) _ _ => //.
    by rewrite mul0mx add0r mulmx0 addr0.
  have P : moves (fun s => \row_i softmax (@expR R) (logits (E t) (e t) (key (z s) h *m (query (z s) h)^T)) i)
      ((E t *m head_change x x' h *m (e t)^T)^T *m (diag_mx (p h) - (p h)^T *m p h)).
    apply: (@moves_softmax _ _ (fun s => logits (E t) (e t) (key (z s) h *m (query (z s) h)^T))) => [|i]; first by rewrite /z line0.
    by apply: slope_eq (L i 0) _ _ => [s|] //; rewrite [RHS]mxE.
  apply: moves_eq (moves_mul P (moves_const (E t))) _ _ => [s|]; last by rewrite mulmx0 addr0.
  by rewrite mulmx_sum_row; apply: eq_bigr => i _; rewrite mxE.
have whole := moves_sum (fun h => moves_mul (feature h) (value_moves x x' h)).
apply: slope_eq (whole 0 0) _ _ => [s|]; first by congr (_ _ 0 0); apply: eq_bigr => h _; rewrite mulmxA.
congr (_ _ 0 0); apply: eq_bigr => h _; rewrite /z line0 attention_feature addrC; congr (_ + _).
have tr11 (M : 'M[R]_1) : M^T = M by apply/matrixP => i j; rewrite !ord1 mxE.
have symmetric (q : 'rV[R]_n.+1) : (diag_mx q - q^T *m q)^T = diag_mx q - q^T *m q by rewrite linearB /= tr_diag_mx trmx_mul trmxK.
by rewrite -[RHS]tr11 /covariance !trmx_mul symmetric !trmxK !mulmxA.
Qed.

(* The upper bound of Theorem 7 for the derivatives themselves, along any k lines of weights. *)
Theorem capacity_upper_jacobian (S : {set 'I_T}) k (lines : 'I_k -> weights R d w dv 1 H) :
  (\rank (\matrix_(t, j) derivative (fun s => output_at (line x (lines j) s) t)) <= N H w E e S + (T - #|S|))%N.
Proof.
suff -> : \matrix_(t, j) derivative (fun s => output_at (line x (lines j) s) t) = \matrix_(t, j) tangent E e (attention E e x) x (lines j) t.
  exact: capacity_upper_real.
by apply/matrixP => t j; rewrite !mxE; apply: slopeE; apply: tangent_is_derivative.
Qed.
End Layer.

(* The chain rule of depth.v: the outputs of several layers. *)
Section Depth.
Variables (R : realType) (T H k n d w v m L : nat) (token : 'I_n.+1 -> 'I_k) (query_at : 'I_k).

Section Heads.
Variables (m' : nat) (z z' : weights R d w v m' H) (S : R -> 'M[R]_(k, d)) (S' : 'M[R]_(k, d)).
Hypothesis S_moves : moves S S'.
Local Notation at_ s := (line z z' s).
Local Notation P0 h := (attention_in token z (S 0) h).

Lemma attention_moves h : moves (fun s => attention_in token (at_ s) (S s) h)
  (softmax_change (P0 h) (logits_change token z (head_change z z') (S 0) S' h)).
Proof.
pose X s := tokens token (S s); have X_moves : moves X (tokens token S') by apply: moves_rows.
have logits_move := moves_tr (moves_mul (moves_mul X_moves (head_moves z z' h)) (moves_tr S_moves)).
move=> a j; rewrite [X in slope_of _ X]mxE.
pose l s := logits (tokens token (S s)) (row a (S s)) (key (at_ s) h *m (query (at_ s) h)^T).
have P0E : row a (P0 h) = \row_i softmax (@expR R) (l 0) i by apply/rowP => i; rewrite !mxE /l line0.
apply: slope_eq (moves_softmax P0E (l' := row a (logits_change token z (head_change z z') (S 0) S' h)) _ 0 j) _ _ => [i|s|//]; last by rewrite !mxE.
apply: slope_eq (logits_move a i) _ _ => [s|].
  by rewrite mxE /l /logits !mxE; apply: eq_bigr => b _; congr (_ * _); rewrite [LHS]mxE [RHS]mxE mxE.
by rewrite [RHS]mxE /logits_change line0 mulmxDl.
Qed.

Lemma heads_move : moves (fun s => heads token (at_ s) (S s) (attention_in token (at_ s) (S s)))
  (heads_change token z (head_change z z') (value_change z z') (S 0) S' (attention_in token z (S 0))).
Proof.
have X_moves : moves (fun s => tokens token (S s)) (tokens token S') by apply: moves_rows.
have whole := moves_sum (fun h => moves_mul (moves_mul (attention_moves h) X_moves) (value_moves z z' h)).
apply: (moves_eq whole (fun s => erefl)); apply: eq_bigr => h _; rewrite line0 mulmxDl.
reflexivity.
Qed.
End Heads.

Variables (data : 'I_T -> 'M[R]_(k, d)) (x : nat -> weights R d w v d H) (y : weights R d w v m H).
Local Notation p := (real_attention L token data x y).
Definition outputs_at (x : nat -> weights R d w v d H) (y : weights R d w v m H) t : 'rV[R]_m :=
  let S := real_state token data x L t in row query_at (heads token y S (attention_in token y S)).

Section Lines.
Variables (x' : nat -> weights R d w v d H) (y' : weights R d w v m H).
Local Notation lines s := (fun l => line (x l) (x' l) s).
Lemma state_moves l t : (l <= L)%N -> moves (fun s => real_state token data (lines s) l t) (state_change token data x p x' l t).
Proof.
elim: l => [|l IH] lL /=; first exact: moves_const.
have lines0 : lines 0 = x by apply: funext => i; exact: line0.
have pE : p l t = attention_in token (x l) (real_state token data x l t) by apply: funext => h; rewrite /real_attention lL.
have step := moves_add (IH (ltnW lL)) (heads_move (x l) (x' l) (IH (ltnW lL))); rewrite lines0 in step.
by rewrite pE (@real_stateE R T H k n d w v m L token data x y l t (ltnW lL)); exact: step.
Qed.

Theorem output_change_is_derivative t : moves (fun s => outputs_at (lines s) (line y y' s) t)
  (output_change token query_at L data x y p x' y' t).
Proof.
have lines0 : lines 0 = x by apply: funext => i; exact: line0.
have pE : p L t = attention_in token y (real_state token data x L t) by apply: funext => h; rewrite /real_attention ltnn.
have S_moves := state_moves t (leqnn L); have last := moves_row query_at (heads_move y y' S_moves); rewrite lines0 in last.
by rewrite /output_change pE (@real_stateE R T H k n d w v m L token data x y L t (leqnn L)); exact: last.
Qed.
End Lines.

(* The upper bound of docs/depth.md for the derivatives themselves, along any K lines of weights: a row for each line. *)
Theorem depth_upper_jacobian K (x' : 'I_K -> nat -> weights R d w v d H) (y' : 'I_K -> weights R d w v m H) :
  (\rank (\matrix_(j < K) mxvec (\matrix_(t, i) derivative (fun s => outputs_at (fun l => line (x l) (x' j l) s) (line y (y' j) s) t ord0 i))) <=
   N_L m L token data x p (\rank (span_differences token data x p 0)) (\rank (span_attending token query_at L data x p 0))
     (\rank (span_tokens token data x p 0)))%N.
Proof.
suff -> : \matrix_(j < K) mxvec (\matrix_(t, i) derivative (fun s => outputs_at (fun l => line (x l) (x' j l) s) (line y (y' j) s) t ord0 i)) =
    \matrix_(j < K) mxvec (\matrix_t output_change token query_at L data x y p (x' j) (y' j) t) by exact: depth_upper_real.
apply/row_matrixP => j; rewrite !rowK; congr mxvec; apply/matrixP => t i; rewrite [RHS]mxE [LHS]mxE.
by apply: slopeE; apply: output_change_is_derivative.
Qed.
End Depth.
