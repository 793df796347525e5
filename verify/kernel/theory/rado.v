(* Rado's theorem on independent transversals, with the defect, for finite families of vectors (docs/given-labels.md,
   Lemma 2): one vector out of each family can be chosen such that their rank is the least of
   dim (span of the families in S) + T - |S| over all sets S of families. No choice has a larger rank. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Rado.
Variables (F : fieldType) (T N D : nat).
Implicit Types (W : 'I_T -> 'M[F]_(N, D)) (S A B : {set 'I_T}) (k : 'I_T -> 'I_N).

(* Family t consists of the N rows of W t. *)
Definition span_of W S := (\sum_(t in S) <<W t>>)%MS.
Definition chosen W k : 'M[F]_(T, D) := \matrix_t row (k t) (W t).

Lemma span_of_sub W S t : t \in S -> (W t <= span_of W S)%MS.
Proof. by move=> tS; apply: (sumsmx_sup t tS); rewrite genmxE. Qed.

Lemma span_ofS W A B : A \subset B -> (span_of W A <= span_of W B)%MS.
Proof. by move/subsetP => AB; apply/sumsmx_subP => t /AB tB; rewrite genmxE span_of_sub. Qed.

Lemma span_ofU W A B : (span_of W (A :|: B) <= span_of W A + span_of W B)%MS.
Proof.
apply/sumsmx_subP => t; rewrite genmxE inE => /orP [tA|tB].
  by apply: submx_trans (span_of_sub W tA) (addsmxSl _ _).
by apply: submx_trans (span_of_sub W tB) (addsmxSr _ _).
Qed.

Lemma rank_chosen W k S : (\rank (chosen W k) <= \rank (span_of W S) + (T - #|S|))%N.
Proof.
have : (chosen W k <= span_of W S + \sum_(t in ~: S) <<row (k t) (W t)>>)%MS.
  apply/row_subP => t; rewrite rowK; have [tS|tS] := boolP (t \in S).
    by apply: submx_trans (row_sub _ _) _; apply: submx_trans (span_of_sub W tS) (addsmxSl _ _).
  by apply: submx_trans (addsmxSr _ _); apply: (sumsmx_sup t); rewrite ?inE // genmxE.
move/mxrankS => le; apply: leq_trans le _; apply: leq_trans (mxrank_adds_leqif _ _) _; rewrite leq_add2l.
have -> : (T - #|S| = #|~: S|)%N by rewrite [in RHS]cardsCs setCK card_ord.
apply: leq_trans (mxrank_sum_leqif _) _; rewrite /= -sum1_card.
by apply: leq_sum => t _; rewrite genmxE rank_leq_row.
Qed.

(* The rank m is within reach: no S refutes it. *)
Definition within m W := forall S, (m + #|S| <= \rank (span_of W S) + T)%N.
Definition tight m W A := (\rank (span_of W A) + T <= m + #|A|)%N.

(* Ranks of spans are submodular, so unions of tight sets are tight. *)
Lemma tightU m W A B : within m W -> tight m W A -> tight m W B -> tight m W (A :|: B).
Proof.
move=> ok tA tB; rewrite /tight -(leq_add2r (m + #|A :&: B|)).
apply: (@leq_trans (\rank (span_of W (A :|: B)) + T + (\rank (span_of W (A :&: B)) + T))).
  by rewrite leq_add2l.
rewrite [X in (_ <= X)%N]addnACA cardsUI [X in (_ <= X)%N]addnACA; apply: leq_trans (leq_add tA tB).
rewrite addnACA [X in (_ <= X)%N]addnACA leq_add2r -[X in (_ <= X)%N]mxrank_sum_cap; apply: leq_add; apply: mxrankS.
  exact: span_ofU.
by rewrite sub_capmx !span_ofS ?subsetIl ?subsetIr.
Qed.

(* All vectors of family t become its vector i. *)
Definition pin W t (i : 'I_N) : 'I_T -> 'M[F]_(N, D) := fun s => if s == t then const_mx 1 *m row i (W t) else W s.

Lemma pin_other W t i A : t \notin A -> span_of (pin W t i) A = span_of W A.
Proof. by move=> tA; apply: eq_bigr => s sA; rewrite /pin; case: eqP tA => // <-; rewrite sA. Qed.

(* Some vector of a family can be kept alone. If each vector i were refuted by a set, that set less t would be tight and its
   span contain i. So would the union of these sets, for all i; with t it refutes m. *)
Lemma pin_within m W t (i0 : 'I_N) : within m W -> exists i, within m (pin W t i).
Proof.
move=> ok; pose fine i S := (m + #|S| <= \rank (span_of (pin W t i) S) + T)%N.
have [/existsP [i /forallP fine_i]|/existsPn none] := boolP [exists i, [forall S : {set 'I_T}, fine i S]].
  by exists i.
have refuted i : exists A, [/\ t \notin A, (row i (W t) <= span_of W A)%MS & tight m W A].
  have := none i; rewrite negb_forall => /existsP [S]; rewrite /fine -ltnNge => lt.
  have tS : t \in S by apply: contraLR lt => tS; rewrite pin_other // -leqNgt ok.
  have tA : t \notin S :\ t by rewrite setD11.
  have SA : (row i (W t) + span_of W (S :\ t) <= span_of (pin W t i) S)%MS.
    rewrite addsmx_sub -(pin_other W i tA) span_ofS ?subD1set // andbT.
    apply: submx_trans (span_of_sub _ tS); rewrite /pin eqxx; apply/submxP; exists (delta_mx 0 i).
    rewrite mulmxA; have -> : delta_mx 0 i *m const_mx 1 = 1%:M :> 'M[F]_1; last by rewrite mul1mx.
    by rewrite -rowE; apply/matrixP => a b; rewrite !ord1 !mxE.
  have le : (\rank (row i (W t) + span_of W (S :\ t))%MS + T <= m + #|S :\ t|)%N.
    rewrite -ltnS; move: lt; rewrite (cardsD1 t S) tS add1n addnS => lt.
    by apply: leq_ltn_trans lt; rewrite leq_add2r mxrankS.
  exists (S :\ t); split=> //; last by apply: leq_trans le; rewrite leq_add2r mxrankS ?addsmxSr.
  have := leq_trans le (ok (S :\ t)); rewrite leq_add2r => le'.
  apply: submx_trans (addsmxSl _ (span_of W (S :\ t))) _.
  by rewrite -(geq_leqif (mxrank_leqif_sup (addsmxSr _ _))).
have [A [tA rows_A tight_A]] : exists A, [/\ t \notin A, (W t <= span_of W A)%MS & tight m W A].
  have [A [tA rows_A tight_A]] : exists A,
      [/\ t \notin A, {in i0 :: enum 'I_N, forall i, (row i (W t) <= span_of W A)%MS} & tight m W A].
    elim: (enum 'I_N) => [|i r [A [tA rows_A tight_A]]].
      have [A [tA rA tight_A]] := refuted i0; exists A; split=> // i.
      by rewrite inE => /eqP ->.
    have [B [tB rB tight_B]] := refuted i; exists (A :|: B); split; last exact: tightU.
      by rewrite inE negb_or tA.
    move=> j; rewrite !inE orbCA => /orP [/eqP ->|jr].
      by apply: submx_trans rB _; rewrite span_ofS ?subsetUr.
    by apply: submx_trans (rows_A j jr) _; rewrite span_ofS ?subsetUl.
  by exists A; split=> //; apply/row_subP => i; apply: rows_A; rewrite inE mem_enum orbT.
have := ok (t |: A); rewrite cardsU1 tA addnCA add1n leqNgt ltnS => /negP [].
apply: leq_trans tight_A; rewrite leq_add2r mxrankS //.
by apply/sumsmx_subP => s; rewrite genmxE => /setU1P [->|/span_of_sub].
Qed.

Lemma reached m W (i0 : 'I_N) : within m W -> exists k, (m <= \rank (chosen W k))%N.
Proof.
move=> ok; have [k] : exists k, within m (fun s => if s \in enum 'I_T then const_mx 1 *m row (k s) (W s) else W s).
  elim: (enum 'I_T) W ok => [|t r IH] W ok; first by exists (fun=> i0).
  have [i /IH [k ok_k]] := pin_within t i0 ok; exists (fun s => if s == t then i else k s).
  move=> S; have := ok_k S; congr (_ <= \rank _ + _)%N; apply: eq_bigr => s _; congr <<_>>%MS.
  rewrite inE /pin; case: eqP => [->|_] //=; case: ifP => // _; congr (_ *m _).
  by apply/rowP => j; rewrite !mxE big_ord1 !mxE mul1r.
move/(_ setT); rewrite cardsT card_ord leq_add2r => le; exists k; apply: leq_trans le (mxrankS _).
apply/sumsmx_subP => t _; rewrite genmxE mem_enum.
by apply: submx_trans (submxMl _ _) _; rewrite -(rowK (fun t => row (k t) (W t))) row_sub.
Qed.

Theorem rado W : (0 < N)%N ->
  (forall k S, (\rank (chosen W k) <= \rank (span_of W S) + (T - #|S|))%N) /\
  exists k S, \rank (chosen W k) = (\rank (span_of W S) + (T - #|S|))%N.
Proof.
move=> N0; split; first exact: rank_chosen.
pose bound S := (\rank (span_of W S) + (T - #|S|))%N.
have cardS S : (#|S| <= T)%N by rewrite -[X in (_ <= X)%N](card_ord T) max_card.
pose S0 := [arg min_(S < set0) bound S].
have [k reach] : exists k, (bound S0 <= \rank (chosen W k))%N.
  apply: (reached (Ordinal N0)) => S; rewrite /S0; case: arg_minnP => // S1 _ /(_ S isT) le.
  by rewrite -[X in (_ <= _ + X)%N](subnK (cardS S)) addnA leq_add2r.
by exists k, S0; apply/eqP; rewrite eqn_leq rank_chosen.
Qed.
End Rado.
