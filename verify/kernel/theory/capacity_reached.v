(* The capacity law, reached (docs/given-labels.md, Theorem 7, equality): arbitrarily near any nonzero queries in a space of
   dimension d' there are queries in it, and heads of any width w, with rank J = min_S [N(S) + T - |S|], for any contexts.
   The heads are theta_h K Q^T with values theta_h u. As in universal_reached.v all heads are read as one head whose tokens are the
   tuples of rows: J then sees means and covariances over tuples, and Rado's theorem chooses the queries. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import layer hyperplanes impossible capacity depth rado universal universal_reached derivative exponential_sums general_keys.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Expectations over tuples of tokens, one for each head, drawn independently. *)
Section Independent.
Variables (R : fieldType) (H n : nat) (p : 'I_H -> 'I_n -> R).
Hypothesis sum_p : forall h, \sum_j p h j = 1.
Local Notation tuples := {ffun 'I_H -> 'I_n}.
Definition chance (i : tuples) : R := \prod_h p h (i h).

Lemma chance_product (f : 'I_H -> 'I_n -> R) : \sum_(i : tuples) chance i * \prod_h f h (i h) = \prod_h \sum_j p h j * f h j.
Proof. by rewrite bigA_distr_bigA; apply: eq_bigr => i _; rewrite -big_split. Qed.

Lemma chance_one h (f : 'I_n -> R) : \sum_(i : tuples) chance i * f (i h) = \sum_j p h j * f j.
Proof.
have := chance_product (fun k j => if k == h then f j else 1); rewrite [RHS](bigD1 h) //= eqxx [X in _ * X]big1 ?mulr1 => [<-|k /negPf kh].
  by apply: eq_bigr => i _; congr (_ * _); rewrite -big_mkcond big_pred1_eq.
by rewrite kh -[RHS](sum_p k); apply: eq_bigr => j _; rewrite mulr1.
Qed.
Lemma chance_two h h' (f g : 'I_n -> R) : h != h' ->
  \sum_(i : tuples) chance i * (f (i h) * g (i h')) = (\sum_j p h j * f j) * (\sum_j p h' j * g j).
Proof.
move=> hh'; have h'h : (h' == h) = false by rewrite eq_sym (negPf hh').
have := chance_product (fun k j => (if k == h then f j else 1) * (if k == h' then g j else 1)).
rewrite [RHS](bigD1 h) //= [X in _ * X](bigD1 h') ?h'h //= ?eqxx ?(negPf hh') ?h'h [X in _ * (_ * X)]big1 ?mulr1.
  move=> E; transitivity (\sum_(i : tuples) chance i * \prod_k ((if k == h then f (i k) else 1) * (if k == h' then g (i k) else 1))).
    by apply: eq_bigr => i _; congr (_ * _); rewrite big_split /= -!big_mkcond !big_pred1_eq.
  by rewrite E; congr (_ * _); apply: eq_bigr => j _; rewrite ?mulr1 ?mul1r.
move=> k /andP [/negPf -> /negPf ->]; by rewrite -[RHS](sum_p k); apply: eq_bigr => j _; rewrite !mulr1.
Qed.

(* Different heads are not correlated. *)
Lemma covariance_tuples (theta : 'I_H -> R) (g : 'I_n -> R) (f : 'I_H -> 'I_n -> R) :
  let y (i : tuples) := \sum_h theta h * g (i h) in let B (i : tuples) := \sum_h f h (i h) in
  \sum_(i : tuples) chance i * (y i * B i) - (\sum_(i : tuples) chance i * y i) * (\sum_(i : tuples) chance i * B i) =
  \sum_h theta h * (\sum_j p h j * (g j * f h j) - (\sum_j p h j * g j) * (\sum_j p h j * f h j)).
Proof.
move=> y B.
have -> : \sum_(i : tuples) chance i * y i = \sum_h theta h * (\sum_j p h j * g j).
  rewrite (eq_bigr (fun i : tuples => \sum_h theta h * (chance i * g (i h)))) => [|i _]; last first.
    by rewrite mulr_sumr; apply: eq_bigr => h _; rewrite mulrCA.
  by rewrite exchange_big; apply: eq_bigr => h _; rewrite -mulr_sumr chance_one.
have -> : \sum_(i : tuples) chance i * B i = \sum_h \sum_j p h j * f h j.
  rewrite (eq_bigr (fun i : tuples => \sum_h chance i * f h (i h))) => [|i _]; last by rewrite mulr_sumr.
  by rewrite exchange_big; apply: eq_bigr => h _; rewrite chance_one.
have -> : \sum_(i : tuples) chance i * (y i * B i) = \sum_h \sum_h' theta h * (\sum_(i : tuples) chance i * (g (i h) * f h' (i h'))).
  rewrite (eq_bigr (fun i : tuples => \sum_h \sum_h' theta h * (chance i * (g (i h) * f h' (i h'))))) => [|i _]; last first.
    by rewrite /y /B mulr_suml mulr_sumr; apply: eq_bigr => h _; rewrite !mulr_sumr; apply: eq_bigr => h' _; rewrite -mulrA mulrCA.
  rewrite exchange_big; apply: eq_bigr => h _; rewrite exchange_big; apply: eq_bigr => h' _; by rewrite mulr_sumr.
rewrite mulr_suml -sumrB; apply: eq_bigr => h _; rewrite mulr_sumr -sumrB (bigD1 h) //= [X in _ + X]big1 ?addr0 => [|h' hh'].
  by rewrite (chance_one h (fun j => g j * f h j)) mulrBr mulrA.
by rewrite chance_two 1?eq_sym // mulrA subrr.
Qed.
End Independent.

Lemma expR_sum (R : realType) (I : finType) (l : I -> R) : expR (\sum_i l i) = \prod_i expR (l i).
Proof. by apply: (big_morph (@expR R) (@expRD R) (@expR0 R)). Qed.

Section Heads.
Variables (R : realType) (T H n d w dv b : nat) (E : 'I_T -> 'M[R]_(n.+1, d)).
(* Queries k f + base; heads theta_h K Q^T with values theta_h u. *)
Variables (f : 'I_T -> 'rV[R]_d) (gamma : R) (U : 'M[R]_(b, d)).
Variables (K Q : 'M[R]_(d, w)) (u : 'cV[R]_d) (theta : 'I_H -> R).
Hypothesis theta0 : forall h, theta h != 0.
Local Notation tuples := {ffun 'I_H -> 'I_n.+1}.
Local Notation kq := (d * w + d * w)%N.
Implicit Types (t : 'I_T) (k : nat) (i : option 'I_b) (h : 'I_H) (j : 'I_n.+1) (r s : tuples) (v : 'rV[R]_(H * kq + H * d)).

Definition base t i : 'rV[R]_d := gamma *: f t + (if i is Some l then row l U else 0).
Definition query_at t k i : 'rV[R]_d := k%:R *: f t + base t i.

(* The slopes of the logits along f, and the values, of tokens and of tuples of tokens. *)
Definition slope t s := \sum_h theta h * (E t *m K *m (f t *m Q)^T) (s h) 0.
Definition worth t s := \sum_h theta h * (E t *m u) (s h) 0.
Hypothesis slopes : forall t r s, slope t r = slope t s -> forall h, row (r h) (E t) = row (s h) (E t).
Hypothesis worths : forall t r s, worth t r = worth t s -> forall h, row (r h) (E t) = row (s h) (E t).

Definition first : 'rV[R]_dv.+1 := delta_mx 0 0.
Definition heads_at : weights R d w dv.+1 1 H :=
  Weights (fun h => theta h *: K) (fun=> Q) (fun h => theta h *: (u *m first)) (fun=> first^T).
(* The directions in which the weights move: two parts of one row of numbers. *)
Definition kq_part v h : 'rV[R]_kq := row h (vec_mx (lsubmx v)).
Definition value_part v h : 'rV[R]_d := row h (vec_mx (rsubmx v)).
Definition direction v : weights R d w dv.+1 1 H :=
  Weights (fun h => vec_mx (lsubmx (kq_part v h))) (fun h => (theta h)^-1 *: vec_mx (rsubmx (kq_part v h)))
          (fun h => (value_part v h)^T *m first) (fun=> 0).
Lemma first1 : first *m first^T = 1%:M.
Proof. by rewrite trmx_delta mul_delta_mx; apply/matrixP => i j; rewrite !ord1 !mxE. Qed.
Lemma head_changeE v h : head_change heads_at (direction v) h = change_of K Q (kq_part v h).
Proof. by rewrite /head_change /change_of /= linearZ /= -scalemxAl -scalemxAr scalerA divff // scale1r. Qed.
Lemma value_changeE v h : value_change heads_at (direction v) h = (value_part v h)^T.
Proof. by rewrite /value_change /= mulmx0 addr0 -mulmxA first1 mulmx1. Qed.
Lemma valueE h : value heads_at h *m out heads_at h = theta h *: u.
Proof. by rewrite /= -scalemxAl -mulmxA first1 mulmx1. Qed.

(* Formula (1) at these weights, as a linear function of the direction. *)
Definition share t k i h : 'rV[R]_n.+1 := \row_j softmax (@expR R) (logits (E t) (query_at t k i) (theta h *: K *m Q^T)) j.
Definition gram t k i h : 'M[R]_n.+1 := diag_mx (share t k i h) - (share t k i h)^T *m share t k i h.
Definition seen t k i v : 'M[R]_1 := \sum_h (share t k i h *m E t *m (value_part v h)^T +
  (theta h *: u)^T *m ((E t)^T *m gram t k i h *m E t) *m change_of K Q (kq_part v h) *m (query_at t k i)^T).
Lemma seen_linear t k i : linear (seen t k i).
Proof.
move=> a v v'; rewrite scaler_sumr -big_split; apply: eq_bigr => h _ /=.
have -> : kq_part (a *: v + v') h = a *: kq_part v h + kq_part v' h by rewrite /kq_part !linearP.
have -> : value_part (a *: v + v') h = a *: value_part v h + value_part v' h by rewrite /value_part !linearP.
move: (share t k i h *m E t) ((theta h *: u)^T *m _) (query_at t k i)^T => z M q.
by rewrite !linearP /= mulmxDl -scalemxAl scalerDr addrACA.
Qed.
Canonical seen_lin t k i := Linear (seen_linear t k i).

Lemma tangent_seen (e : 'I_T -> 'rV[R]_d) t k i v : e t = query_at t k i ->
  tangent E e (attention E e heads_at) heads_at (direction v) t = seen t k i v 0 0.
Proof.
move=> et; have shareE h : attention E e heads_at t h = share t k i h by rewrite /attention et.
rewrite /tangent /seen !summxE; apply: eq_bigr => h _.
by rewrite value_changeE head_changeE valueE /feature_of /covariance shareE et.
Qed.

Definition shift t i j := (E t *m K *m (base t i *m Q)^T) j 0.
Lemma logitE t k i h j : logits (E t) (query_at t k i) (theta h *: K *m Q^T) j =
  theta h * ((E t *m K *m (f t *m Q)^T) j 0 *+ k + shift t i j).
Proof.
rewrite /logits -scalemxAl -scalemxAr -scalemxAl mxE; congr (_ * _).
have -> : E t *m (K *m Q^T) *m (query_at t k i)^T = E t *m K *m (query_at t k i *m Q)^T by rewrite trmx_mul !mulmxA.
by rewrite /query_at mulmxDl -scalemxAl linearD linearZ /= mulmxDr -scalemxAr mxE [X in X + _]mxE mulr_natl.
Qed.

(* Mean and covariance over the tuples. *)
Definition A t v s := \sum_h (E t *m (value_part v h)^T) (s h) 0.
Definition B t v (q : 'rV[R]_d) s := \sum_h (E t *m change_of K Q (kq_part v h) *m q^T) (s h) 0.
Definition weight t k i s := expR (\sum_h theta h * ((E t *m K *m (f t *m Q)^T) (s h) 0 *+ k + shift t i (s h))).

Lemma seenE t k i v : let Z := \sum_(s : tuples) weight t k i s in
  seen t k i v 0 0 * Z ^+ 2 = \sum_(rs : tuples * tuples) weight t k i rs.1 * weight t k i rs.2 *
    (A t v rs.1 + (worth t rs.1 - worth t rs.2) * B t v (query_at t k i) rs.1).
Proof.
move=> Z; pose p h j := share t k i h 0 j.
have sum_p h : \sum_j p h j = 1.
  by rewrite -[RHS](sum_softmax (ltn0Sn n) (logits (E t) (query_at t k i) (theta h *: K *m Q^T))); apply: eq_bigr => j _; rewrite /p mxE.
have Z0 : Z != 0.
  by rewrite gt_eqF // /Z (bigD1 [ffun=> ord0]) //= ltr_paddr ?expR_gt0 // sumr_ge0 // => s _; apply/ltW/expR_gt0.
have chanceE s : chance p s = weight t k i s / Z.
  pose l h j := theta h * ((E t *m K *m (f t *m Q)^T) j 0 *+ k + shift t i j).
  have pE h j : p h j = expR (l h j) / \sum_j' expR (l h j').
    by rewrite /p mxE /softmax logitE; congr (_ / _); apply: eq_bigr => j' _; rewrite logitE.
  rewrite /chance (eq_bigr _ (fun h _ => pE h (s h))) big_split /= prodfV /weight expR_sum; congr (_ / _).
  by rewrite bigA_distr_bigA; apply: eq_bigr => s' _; rewrite /weight expR_sum.
pose g h j := (E t *m change_of K Q (kq_part v h) *m (query_at t k i)^T) j 0.
pose x j := (E t *m u) j 0.
have one_head h : (share t k i h *m E t *m (value_part v h)^T +
    (theta h *: u)^T *m ((E t)^T *m gram t k i h *m E t) *m change_of K Q (kq_part v h) *m (query_at t k i)^T) 0 0 =
    \sum_j p h j * (E t *m (value_part v h)^T) j 0 +
    theta h * (\sum_j p h j * (x j * g h j) - (\sum_j p h j * x j) * (\sum_j p h j * g h j)).
  rewrite mxE; congr (_ + _); first by rewrite -mulmxA mxE.
  rewrite linearZ /= -!scalemxAl mxE; congr (_ * _).
  have -> : u^T *m ((E t)^T *m gram t k i h *m E t) *m change_of K Q (kq_part v h) *m (query_at t k i)^T =
      (E t *m u)^T *m gram t k i h *m (E t *m change_of K Q (kq_part v h) *m (query_at t k i)^T).
    by rewrite trmx_mul !mulmxA.
  rewrite mxE (eq_bigr (fun j => p h j * (x j * g h j) - (\sum_l p h l * x l) * (p h j * g h j))) => [|j _].
    by rewrite sumrB -mulr_sumr.
  rewrite /gram softmax_row [_^T 0 j]mxE mulrBl -/(g h j) -/(p h j) -/(x j); congr (_ - _); first by rewrite mulrA [p h j * _]mulrC.
  by rewrite -mulrA; congr (_ * _); apply: eq_bigr => l _; rewrite [_^T 0 l]mxE mulrC.
have -> : seen t k i v 0 0 = \sum_s chance p s * A t v s + (\sum_s chance p s * (worth t s * B t v (query_at t k i) s) -
    (\sum_s chance p s * worth t s) * (\sum_s chance p s * B t v (query_at t k i) s)).
  rewrite /seen summxE (eq_bigr _ (fun h _ => one_head h)) big_split /=; congr (_ + _); last first.
    by rewrite -(covariance_tuples sum_p theta x g).
  rewrite [RHS](eq_bigr (fun s => \sum_h chance p s * (E t *m (value_part v h)^T) (s h) 0)) => [|s _]; last by rewrite mulr_sumr.
  by rewrite [RHS]exchange_big; apply: eq_bigr => h _; rewrite (chance_one sum_p h (fun j => (E t *m (value_part v h)^T) j 0)).
have meanE (F : tuples -> R) : \sum_s chance p s * F s = (\sum_s weight t k i s * F s) / Z.
  by rewrite mulr_suml; apply: eq_bigr => s _; rewrite chanceE mulrAC.
rewrite !meanE; move: (A t v) (B t v (query_at t k i)) (worth t) => a bq y.
rewrite -[RHS](pair_bigA _ (fun r s => weight t k i r * weight t k i s * (a r + (y r - y s) * bq r))) /=.
transitivity ((\sum_s weight t k i s * a s) * Z + ((\sum_s weight t k i s * (y s * bq s)) * Z -
    (\sum_s weight t k i s * y s) * (\sum_s weight t k i s * bq s))).
  have ZZ : Z ^+ 2 = Z * Z by [].
  rewrite ZZ mulrDl mulrBl mulf_div [X in _ - X]divfK ?mulf_neq0 //.
  by rewrite !(mulrA _ Z Z) !divfK.
rewrite [X in _ - X]mulrC !mulr_suml -sumrB -big_split; apply: eq_bigr => r _ /=.
rewrite /Z !mulr_sumr -sumrB -big_split; apply: eq_bigr => s _ /=.
rewrite mulrDr mulrBl mulrBr; congr (_ + (_ - _)); [by rewrite mulrAC|by rewrite mulrAC|].
by rewrite mulrACA [bq r * _]mulrC.
Qed.

Local Notation N := (2 * #|[finType of tuples * tuples]| + 2)%N.

(* Lemma 6: what vanishes at all these queries. *)
Lemma all_seen t v : (forall k i, (k < N)%N -> seen t k i v = 0) ->
  (forall s, A t v s = 0) /\ forall h, differences E t *m change_of K Q (kq_part v h) *m U^T = 0.
Proof.
move=> seen0; pose top : tuples := [arg max_(s > [ffun=> ord0]) slope t s]%O.
have largest s : slope t s <= slope t top by rewrite /top; case: arg_maxP => // r _; apply.
have rows_entry (M : 'M[R]_(d, 1)) r s h : row (r h) (E t) = row (s h) (E t) -> (E t *m M) (r h) 0 = (E t *m M) (s h) 0.
  have entry j : (E t *m M) j 0 = (row j (E t) *m M) 0 0 by rewrite -row_mul [RHS]mxE.
  by move=> rs; rewrite !entry rs.
have A_rows r s : (forall h, row (r h) (E t) = row (s h) (E t)) -> A t v r = A t v s.
  by move=> rs; apply: eq_bigr => h _; apply: rows_entry.
have B_rows q r s : (forall h, row (r h) (E t) = row (s h) (E t)) -> B t v q r = B t v q s.
  by move=> rs; apply: eq_bigr => h _; rewrite -!(mulmxA (E t)); apply: rows_entry.
have same_x r s : slope t r = slope t s -> worth t r = worth t s.
  by move=> /slopes rs; apply: eq_bigr => h _; rewrite (rows_entry u _ _ _ (rs h)).
have B_add a q q' s : B t v (a *: q + q') s = a * B t v q s + B t v q' s.
  rewrite /B mulr_sumr -big_split; apply: eq_bigr => h _ /=.
  have -> : (a *: q + q')^T = a *: q^T + q'^T by rewrite linearP.
  by rewrite mulmxDr -scalemxAr mxE [X in X + _]mxE.
pose c i s := expR (\sum_h theta h * shift t i (s h)).
have c0 i s : 0 < c i s by apply: expR_gt0.
have weightE k i s : weight t k i s = c i s * expR (slope t s) ^+ k.
  have expn (a : R) : expR a ^+ k = expR (a *+ k) by elim: k {c c0} => [|j IH]; rewrite ?expR0 // exprS IH mulrS expRD.
  rewrite expn /c /weight -expRD /slope -sumrMnl -big_split; congr expR; apply: eq_bigr => h _ /=.
  by rewrite mulrDr addrC mulrnAr.
have sums i m : \sum_(rs : tuples * tuples | slope t rs.1 + slope t rs.2 == m) c i rs.1 * c i rs.2 *
      (A t v rs.1 + (worth t rs.1 - worth t rs.2) * B t v (base t i) rs.1) = 0 /\
    \sum_(rs : tuples * tuples | slope t rs.1 + slope t rs.2 == m) c i rs.1 * c i rs.2 * ((worth t rs.1 - worth t rs.2) * B t v (f t) rs.1) = 0.
  apply: (line_sums (A := A t v) (B0 := B t v (f t)) (B := B t v (base t i)) (c0 i)) => k kN.
  have zero : (0 : 'M[R]_1) 0 0 = 0 by rewrite mxE.
  have := seenE t k i v; rewrite /= (seen0 k i kN) zero mul0r => E0; rewrite [RHS]E0.
  by apply: eq_bigr => rs _; rewrite !weightE [B t v (query_at t k i) _]B_add mulr_natl.
have constant i q : (forall m, \sum_(rs : tuples * tuples | slope t rs.1 + slope t rs.2 == m)
    c i rs.1 * c i rs.2 * ((worth t rs.1 - worth t rs.2) * B t v q rs.1) = 0) -> forall s, B t v q s = B t v q top.
  by apply: (covariance_zero largest same_x (c0 i)) => r s rs; apply: B_rows; [apply: slopes|apply: worths].
have const_f := constant None (f t) (fun m => (sums None m).2).
have base_B i s : B t v (base t i) s = gamma * B t v (f t) s + B t v (if i is Some l then row l U else 0) s by apply: B_add.
have B0 s : B t v 0 s = 0 by rewrite /B big1 // => h _; rewrite trmx0 mulmx0 mxE.
have A0 s : A t v s = 0.
  apply: (mean_zero largest (c0 None)) => [r' s' /slopes /A_rows //|m].
  have := (sums None m).1; rewrite (eq_bigr (fun rs => c None rs.1 * c None rs.2 * A t v rs.1 +
    c None rs.1 * c None rs.2 * ((worth t rs.1 - worth t rs.2) * (gamma * B t v (f t) top)))) => [|rs _].
    by rewrite big_split /= no_covariance addr0.
  by rewrite base_B B0 addr0 const_f mulrDr.
split=> // h; apply/row_matrixP => j; rewrite row0; apply/rowP => l; rewrite [RHS]mxE.
have const s : B t v (row l U) s = B t v (row l U) top.
  have /constant/(_ s) : forall m, \sum_(rs : tuples * tuples | slope t rs.1 + slope t rs.2 == m)
      c (Some l) rs.1 * c (Some l) rs.2 * ((worth t rs.1 - worth t rs.2) * B t v (base t (Some l)) rs.1) = 0.
    by move=> m; rewrite -[RHS](sums (Some l) m).1; apply: eq_bigr => rs _; rewrite A0 add0r.
  by rewrite !base_B const_f => /addrI.
pose G h' := E t *m change_of K Q (kq_part v h') *m (row l U)^T.
have := etrans (const [ffun h' => if h' == h then j else ord0]) (esym (const [ffun=> ord0])).
rewrite /B (bigD1 h) //= [X in _ = X](bigD1 h) //= !ffunE eqxx.
rewrite (eq_bigr (fun h' => G h' ord0 0)) => [|h' /negPf hh']; last by rewrite ffunE hh'.
rewrite [X in _ = _ + X](eq_bigr (fun h' => G h' ord0 0)) => [/addIr G0|h' _]; last by rewrite ffunE.
have entry (M : 'M[R]_(n.+1, d)) : (M *m U^T) j l = (M *m (row l U)^T) j 0 by rewrite !mxE; apply: eq_bigr => k _; rewrite !mxE.
rewrite mxE entry; have -> : differences E t *m change_of K Q (kq_part v h) *m (row l U)^T = G h - const_mx 1 *m row ord0 (G h).
  by rewrite /differences /G !mulmxBl !row_mul !mulmxA.
by rewrite mxE [X in _ + X]mxE [X in _ - X]mxE big_ord1 !mxE mul1r; move: G0; rewrite /G !mxE => ->; rewrite subrr.
Qed.
End Heads.

Lemma avoid (F : numFieldType) d (I : finType) (v : I -> 'rV[F]_d) : exists w : 'cV[F]_d, forall i, v i *m w = 0 -> v i = 0.
Proof.
have [w /allP off] := avoid_hyperplanes (filter_all (fun x => x != 0) [seq v i | i <- enum I]).
exists (map_mx intr w) => i /eqP vw; apply/eqP; apply: contraLR vw => v0; apply: off.
by rewrite mem_filter v0 map_f ?mem_enum.
Qed.

Section Choice.
Variables (R : realFieldType) (T H n d w b : nat) (E : 'I_T -> 'M[R]_(n.+1, d)) (f : 'I_T -> 'rV[R]_d) (U : 'M[R]_(b, d)).
Hypothesis f0 : forall t, f t != 0.
Local Notation tuples := {ffun 'I_H -> 'I_n.+1}.

Lemma choice_of_heads : exists (K Q : 'M[R]_(d, w.+1)) (u : 'cV[R]_d) (theta : 'I_H -> R), [/\
  forall h, theta h != 0,
  forall t (r s : tuples), \sum_h theta h * (E t *m K *m (f t *m Q)^T) (r h) 0 = \sum_h theta h * (E t *m K *m (f t *m Q)^T) (s h) 0 ->
    forall h, row (r h) (E t) = row (s h) (E t),
  forall t (r s : tuples), \sum_h theta h * (E t *m u) (r h) 0 = \sum_h theta h * (E t *m u) (s h) 0 ->
    forall h, row (r h) (E t) = row (s h) (E t),
  forall S, \rank (span_of_differences E S *m K) = minn w.+1 (\rank (span_of_differences E S)) &
  \rank (U *m Q) = minn w.+1 (\rank U)].
Proof.
pose gap t i j := row i (E t) - row j (E t).
pose vs := [seq v <- [seq gap t ij.1 ij.2 | t <- enum 'I_T, ij <- enum [finType of 'I_n.+1 * 'I_n.+1]] | v != 0].
have [K [keys K_off]] := @general_keys _ _ d (span_of_differences E) w vs (filter_all _ _).
have gapK t i j : gap t i j *m col 0 K = 0 -> gap t i j = 0.
  move=> /eqP gK; apply/eqP; apply: contraLR gK => g0; apply: (allP K_off); rewrite mem_filter g0.
  by apply/allpairsP; exists (t, (i, j)); rewrite !mem_enum.
have f_all : all (fun v => v != 0) [seq f t | t <- enum 'I_T] by apply/allP => _ /mapP [t _ ->].
have [Q [queries /allP Q_off]] := @general_keys _ unit_finType d (fun=> <<U>>%MS) w _ f_all.
have fQ t : f t *m col 0 Q != 0 by apply: Q_off; rewrite map_f ?mem_enum.
(* The columns of K are scaled such that K Q^T f tells tokens apart, too. *)
pose scaled (x : 'I_T * ('I_n.+1 * 'I_n.+1) + 'I_w.+1) : 'rV[R]_w.+1 :=
  match x with inl (t, (i, j)) => \row_l ((gap t i j *m K) 0 l * (f t *m Q) 0 l) | inr l => delta_mx 0 l end.
have [m m_off] := avoid scaled; pose K' := K *m diag_mx m^T.
have m0 l : m l 0 != 0.
  apply/eqP => ml; have /m_off/rowP/(_ l)/eqP : scaled (inr l) *m m = 0.
    by rewrite /= -rowE; apply/rowP => i; rewrite !ord1 !mxE.
  by rewrite !mxE !eqxx oner_eq0.
have gapK' t i j : gap t i j *m K' *m (f t *m Q)^T = 0 -> gap t i j = 0.
  move=> g0; apply: gapK; have /m_off/rowP/(_ 0) : scaled (inl (t, (i, j))) *m m = 0.
    rewrite -[RHS]g0; apply/matrixP => a c; rewrite !ord1 mxE [RHS]mxE; apply: eq_bigr => l _.
    by rewrite /K' mulmxA mul_mx_diag !mxE mulrAC.
  rewrite [LHS]mxE [RHS]mxE => /eqP; rewrite mulf_eq0 => /orP [/eqP g1|/eqP f1].
    by apply/matrixP => a c; rewrite !ord1 colE mulmxA -colE [LHS]mxE g1 mxE.
  by case/eqP: (fQ t); apply/matrixP => a c; rewrite !ord1 colE mulmxA -colE [LHS]mxE f1 mxE.
pose tell (M : 'I_T -> 'cV[R]_d) t (r s : tuples) : 'rV[R]_H := \row_h (gap t (r h) (s h) *m M t) 0 0.
pose slope_at t := K' *m (f t *m Q)^T; pose u := col 0 K.
pose told (x : bool * ('I_T * (tuples * tuples)) + 'I_H) : 'rV[R]_H :=
  match x with inl (c, (t, (r, s))) => tell (if c then slope_at else fun=> u) t r s | inr h => delta_mx 0 h end.
have [theta th_off] := avoid told.
have tellE M t (r s : tuples) : \sum_h theta h 0 * (E t *m M t) (r h) 0 = \sum_h theta h 0 * (E t *m M t) (s h) 0 -> tell M t r s *m theta = 0.
  move=> /eqP; rewrite -subr_eq0 -sumrB => /eqP E0; apply/matrixP => a c; rewrite !ord1 mxE [RHS]mxE -[RHS]E0.
  by apply: eq_bigr => h _; rewrite mxE /gap mulmxBl -!row_mul !mxE -mulrBr mulrC.
have tell0 M t (r s : tuples) h : tell M t r s = 0 -> gap t (r h) (s h) *m M t = 0.
  by move=> /rowP/(_ h); rewrite !mxE => g0; apply/matrixP => a c; rewrite !ord1 !mxE.
exists K', Q, u, (theta^~ 0); split=> [h|t r s|t r s|S|].
- apply/eqP => th0; have /th_off/rowP/(_ h)/eqP : told (inr h) *m theta = 0.
    by rewrite /= -rowE; apply/rowP => i; rewrite !ord1 !mxE.
  by rewrite !mxE !eqxx oner_eq0.
- move=> rs h; have /(th_off (inl (true, (t, (r, s))))) told0 : tell slope_at t r s *m theta = 0.
    by apply: tellE; rewrite /slope_at mulmxA.
  apply/eqP; rewrite -subr_eq0; apply/eqP.
  by apply: gapK'; rewrite -mulmxA; apply: (tell0 slope_at).
- move=> rs h; have /(th_off (inl (false, (t, (r, s))))) told0 : tell (fun=> u) t r s *m theta = 0 by apply: tellE.
  apply/eqP; rewrite -subr_eq0; apply/eqP.
  by apply: gapK; apply: (tell0 (fun=> u)).
- rewrite -keys /K' mulmxA mxrankMfree // row_free_unit unitmxE det_diag unitfE; apply/prodf_neq0 => l _.
  by rewrite mxE.
- by rewrite -(eqmxMr Q (genmxE U)) (queries tt) genmxE.
Qed.
End Choice.

(* The rows of J of one example at all its queries, and what they span. *)
Section Span.
Variables (R : realType) (T H n d w dv b : nat) (E : 'I_T -> 'M[R]_(n.+1, d)).
Variables (f : 'I_T -> 'rV[R]_d) (gamma : R) (U : 'M[R]_(b, d)) (K Q : 'M[R]_(d, w)) (u : 'cV[R]_d) (theta : 'I_H -> R).
Hypotheses (H0 : (0 < H)%N) (freeU : row_free U).
Local Notation tuples := {ffun 'I_H -> 'I_n.+1}.
Local Notation kq := (d * w + d * w)%N.
Hypothesis slopes : forall t (r s : tuples), slope E f K Q theta t r = slope E f K Q theta t s -> forall h, row (r h) (E t) = row (s h) (E t).
Hypothesis worths : forall t (r s : tuples), worth E u theta t r = worth E u theta t s -> forall h, row (r h) (E t) = row (s h) (E t).
Hypothesis keys : forall S, \rank (span_of_differences E S *m K) = minn w (\rank (span_of_differences E S)).
Hypothesis queries : \rank (U *m Q) = minn w (\rank U).

Definition query_choices := [finType of 'I_(2 * #|[finType of tuples * tuples]| + 2) * option 'I_b].
Definition row_at t (r : query_choices) : 'rV[R]_(H * kq + H * d) := (lin1_mx (seen E f gamma U K Q u theta t r.1 r.2))^T.
Definition rows_at t : 'M[R]_(#|query_choices|, H * kq + H * d) := \matrix_r row_at t (enum_val r).

Lemma rank_rows S : (N_of H w E b S <= \rank (span_of rows_at S))%N.
Proof.
pose X := row_base (span_of_differences E S); pose G := image K Q U X.
pose PR := (lin_mx (mulmxr G) : 'M_(H * _, H * _))^T; pose TR := span_of (fun t => tuple_rows H (E t)) S.
have sub : (block_mx PR 0 0 TR <= span_of rows_at S)%MS.
  apply: sub_by_kernel => c Wc; pose v := c^T.
  have all0 t : t \in S -> (forall s, A E t v s = 0) /\ forall h, differences E t *m change_of K Q (kq_part v h) *m U^T = 0.
    move=> tS; apply: (all_seen (f := f) (gamma := gamma) slopes worths) => k i kN.
    have /submxP [Y WY] := span_of_sub rows_at tS.
    have zero : row_at t (Ordinal kN, i) *m c = 0.
      by rewrite -[(_, _)]enum_rankK -(rowK (fun r => row_at t (enum_val r))) -row_mul -/(rows_at t) WY -mulmxA Wc mulmx0 row0.
    by apply: trmx_inj; rewrite trmx0 -[RHS]zero -(mul_rV_lin1 (seen_lin E f gamma U K Q u theta t k i)) trmx_mul trmxK.
  rewrite -[c]vsubmxK mul_block_col !mul0mx addr0 add0r.
  have usE : usubmx c = (lsubmx v)^T by rewrite /v -trmx_usub trmxK.
  have dsE : dsubmx c = (rsubmx v)^T by rewrite /v -trmx_dsub trmxK.
  have -> : TR *m dsubmx c = 0.
    apply/sub_kermxP; apply/sumsmx_subP => t tS; rewrite genmxE; apply/sub_kermxP/row_matrixP => i.
    have [A0 _] := all0 t tS; rewrite row_mul row0; apply/matrixP => a b'; rewrite !ord1 [RHS]mxE -(A0 (enum_val i)).
    rewrite rowK /tuple_row dsE -[rsubmx v]vec_mxK /A mxE (reindex (uncurry (@mxvec_index H d))) /=; last by apply: curry_mxvec_bij.
    rewrite (eq_bigr (fun p => E t (enum_val i p.1) p.2 * vec_mx (rsubmx v) p.1 p.2)) => [|[h l] _ /=]; last first.
      by rewrite mxvecE [_^T _ _]mxE mxvecE !mxE.
    rewrite -(pair_bigA _ (fun h l => E t (enum_val i h) l * vec_mx (rsubmx v) h l)); apply: eq_bigr => h _.
    by rewrite mxE; apply: eq_bigr => l _; rewrite [_^T _ _]mxE /value_part [row _ _ _ _]mxE.
  have -> : PR *m usubmx c = 0; last by rewrite col_mx0.
  apply: trmx_inj; rewrite trmx0 trmx_mul /PR trmxK usE trmxK -[lsubmx v]vec_mxK mul_rV_lin /= mxvecK /mulmxr.
  rewrite (_ : _ *m G = 0) ?linear0 //; apply/row_matrixP => h; rewrite row0 row_mul mul_rV_lin1 /= /image_at.
  suff -> : X *m change_of K Q (kq_part v h) *m U^T = 0 by rewrite linear0.
  rewrite -mulmxA; apply/sub_kermxP; rewrite eq_row_base; apply/sumsmx_subP => t tS; rewrite genmxE; apply/sub_kermxP.
  by have [_ D0] := all0 t tS; rewrite mulmxA D0.
apply: leq_trans (mxrankS sub); rewrite rank_diag_block_mx /N_of -/(a_of E S) -/(b_of E S) mulnDr -addnA.
apply: leq_add; last exact: rank_tuples (Ordinal H0).
rewrite /PR mxrank_tr; apply: leq_trans (rank_copies H G); rewrite leq_mul2l; apply/orP; right.
apply: leq_trans (products_rank_le _ _ _) _.
have := rank_image K Q (row_base_free (span_of_differences E S)) freeU.
by rewrite (eqmxMr K (eq_row_base _)) keys queries (eqP freeU).
Qed.
End Span.

Lemma N_of_mono (R : fieldType) (T H n d w b b' : nat) (E : 'I_T -> 'M[R]_(n.+1, d)) S :
  (b <= b')%N -> (N_of H w E b S <= N_of H w E b' S)%N.
Proof.
move=> bb'; rewrite leq_add2r leq_mul2l leq_add2r; apply/orP; right.
exact: (products_rank_mono w (leqnn _) bb').
Qed.

(* Arbitrarily near any queries c t of the row space of U there are queries e t and heads of width w such that J, the derivatives of
   the outputs along some lines of weights, has as many dimensions as the upper bound allows. *)
Theorem capacity_reached (R : realType) (T H n d w dv b : nat) (E : 'I_T -> 'M[R]_(n.+1, d)) (U : 'M[R]_(b, d))
    (c : 'I_T -> 'rV[R]_d) (eps : R) :
  (0 < H)%N -> (0 < w)%N -> (0 < dv)%N -> row_free U -> (forall t, (c t <= U)%MS) -> (forall t, c t != 0) -> 0 < eps ->
  exists (e : 'I_T -> 'rV[R]_d) (x : weights R d w dv 1 H) (k : nat) (lines : 'I_k -> weights R d w dv 1 H) (S : {set 'I_T}),
  [/\ forall t, (e t <= U)%MS,
      forall t j, `|(e t - c t) 0 j| < eps,
      forall S', (N_of H w E b S + (T - #|S|) <= N_of H w E b S' + (T - #|S'|))%N &
      \rank (\matrix_(t, j) derivative (fun s => output_at E e (line x (lines j) s) t)) = (N_of H w E b S + (T - #|S|))%N].
Proof.
move=> H0; case: w => // w _; case: dv => // dv _ freeU cU c0 eps0.
pose tuples := {ffun 'I_H -> 'I_n.+1}; pose B := (2 * #|[finType of tuples * tuples]| + 2)%N.
pose M : R := \sum_t \sum_j B%:R * `|c t 0 j| + \sum_l \sum_j `|U l j|; pose delta := eps / (1 + M).
have M0 : 0 <= M by rewrite addr_ge0 // sumr_ge0 // => i _; rewrite sumr_ge0 // => j _; rewrite ?mulr_ge0 ?ler0n.
have M1 : 0 < 1 + M by rewrite ltr_spaddl // ltr01.
have delta0 : 0 < delta by rewrite divr_gt0.
have deltaN : delta != 0 by rewrite gt_eqF.
pose f t := delta *: c t; pose V := delta *: U.
have f0 t : f t != 0 by rewrite scaler_eq0 negb_or deltaN c0.
have freeV : row_free V by rewrite /row_free eqmx_scale.
have [K [Q [u [theta [theta0 slopes worths keys queries]]]]] := @choice_of_heads _ _ H _ _ w _ E f V f0.
pose W := rows_at E f delta^-1 V K Q u theta.
have some_choice : (0 < #|query_choices H n b|)%N by rewrite card_prod card_ord card_option muln_gt0 addn_gt0 orbT.
have [_ [r [S rank_r]]] := rado W some_choice.
pose e t := query_at f delta^-1 V t (enum_val (r t)).1 (enum_val (r t)).2.
pose x := heads_at dv K Q u theta; pose lines (j : 'I_(H * (d * w.+1 + d * w.+1) + H * d)) := direction dv theta (delta_mx 0 j).
have JE : \matrix_(t, j) tangent E e (attention E e x) x (lines j) t = chosen W r.
  apply/matrixP => t j; rewrite mxE [RHS]mxE [RHS]mxE [RHS]mxE [RHS]mxE [RHS]mxE.
  exact: (@tangent_seen _ _ _ _ _ _ _ _ E f delta^-1 V K Q u theta theta0 e t (enum_val (r t)).1 (enum_val (r t)).2).
have eU t : (e t <= U)%MS.
  have fU : (f t <= U)%MS by apply: scalemx_sub.
  rewrite /e /query_at /base !addmx_sub ?scalemx_sub //; case: (_.2) => [l|]; last exact: sub0mx.
  by apply: submx_trans (row_sub _ _) _; apply: scalemx_sub.
have upper S' : (\rank (chosen W r) <= N_of H w.+1 E b S' + (T - #|S'|))%N.
  rewrite -JE; apply: leq_trans (capacity_upper_real E e S' x lines) _; rewrite leq_add2r; apply: N_of_mono.
  by apply: leq_trans (rank_leq_row U); apply: mxrankS; apply/sumsmx_subP => t _; rewrite genmxE.
have lower : (N_of H w.+1 E b S + (T - #|S|) <= \rank (chosen W r))%N by rewrite rank_r leq_add2r rank_rows.
exists e, x, _, lines, S; split=> // [t j|S'|]; last 2 first.
- exact: leq_trans lower (upper S').
- have -> : \matrix_(t, j) derivative (fun s => output_at E e (line x (lines j) s) t) = chosen W r.
    by rewrite -JE; apply/matrixP => t j; rewrite [LHS]mxE [RHS]mxE; apply: slopeE; apply: tangent_is_derivative.
  by apply/eqP; rewrite eqn_leq upper.
pose k := (enum_val (r t)).1; pose i := (enum_val (r t)).2; pose a := k%:R * c t 0 j + (if i is Some l then U l j else 0).
have -> : (e t - c t) 0 j = delta * a.
  have -> : e t - c t = delta *: (k%:R *: c t + (if i is Some l then row l U else 0)).
    rewrite /e /query_at /base -/k -/i /f (scalerA delta^-1) mulVf // scale1r addrCA addrC addKr scalerDr !scalerA mulrC.
    by congr (_ + _); case: i {a} => [l|]; [rewrite linearZ|rewrite scaler0].
  by rewrite /a !mxE; congr (_ * (_ + _)); case: i {a} => [l|]; rewrite mxE.
rewrite normrM gtr0_norm //; apply: (@le_lt_trans _ _ (delta * M)); last first.
  by rewrite -[X in _ < X](divfK (lt0r_neq0 M1)) ltr_pmul2l // ltr_addr ltr01.
have le_sum (I : finType) (F : I -> R) l : (forall l', 0 <= F l') -> F l <= \sum_l' F l'.
  by move=> F0; rewrite (bigD1 l) //= ler_addl sumr_ge0.
rewrite ler_pmul2l //; apply: le_trans (ler_norm_add _ _) _; apply: ler_add.
  apply: le_trans (le_sum _ (fun t => \sum_j B%:R * `|c t 0 j|) t _) => [|t']; last by rewrite sumr_ge0 // => j' _; rewrite mulr_ge0 ?ler0n.
  apply: le_trans (le_sum _ (fun j => B%:R * `|c t 0 j|) j _) => [|j']; last by rewrite mulr_ge0 ?ler0n.
  by rewrite normrM normr_nat ler_wpmul2r // ler_nat ltnW.
case: i {a} => [l|]; last by rewrite normr0 sumr_ge0 // => l _; rewrite sumr_ge0.
apply: le_trans (le_sum _ (fun l => \sum_j `|U l j|) l _) => [|l']; last by rewrite sumr_ge0.
exact: (le_sum _ (fun j => `|U l j|) j).
Qed.
