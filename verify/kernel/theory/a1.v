(* Corollary 1: Assumption 1 gives the partition condition for T <= H(n-1)+1. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals sequences exp.
Require Import real realdata.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section A1.
Variables (F : fieldType) (n d T H : nat) (e : 'I_T -> 'rV[F]_d).
Hypothesis A1 : forall S : {set 'I_T}, #|S| = minn n T -> free [seq e t | t <- enum S].

Lemma perm_add (S : {set 'I_T}) t : t \notin S -> perm_eq (enum (t |: S)%SET) (t :: enum S).
Proof.
move=> tS; apply: uniq_perm => [||s]; rewrite ?enum_uniq //.
  by rewrite cons_uniq enum_uniq mem_enum tS.
by rewrite in_cons !mem_enum !inE.
Qed.

Lemma A1_small (S : {set 'I_T}) : (#|S| <= minn n T)%N -> free [seq e t | t <- enum S].
Proof.
move=> leS; move: {2}(minn n T - #|S|)%N (erefl (minn n T - #|S|)%N) => k.
elim: k S leS => [|k IH] S leS kE.
  by apply: A1; apply/eqP; rewrite eqn_leq leS -subn_eq0 kE.
have [t tS] : exists t, t \notin S.
  apply/existsP; rewrite -negb_forall; apply/negP => /forallP all_in.
  have : (#|S| = T)%N by rewrite -[RHS]card_ord; apply: eq_card => t; rewrite all_in.
  by move=> ST; move: kE; rewrite ST (eqP (_ : (minn n T - T)%N == 0%N)) // subn_eq0 geq_minr.
have leS' : (#|t |: S| <= minn n T)%N by rewrite cardsU1 tS /= add1n -subn_gt0 kE.
have := IH (t |: S)%SET leS'; rewrite cardsU1 tS /= add1n subnS kE => /(_ (erefl _)).
by rewrite (perm_free (perm_map _ (perm_add tS))) /= free_cons => /andP [].
Qed.

Hypotheses (n_gt0 : (0 < n)%N) (H_gt0 : (0 < H)%N) (few : (T <= H * n.-1 + 1)%N).

Lemma grp_lt (t : 'I_T) : (t.-1 %/ n.-1 < H)%N.
Proof.
case: (posnP n.-1) => [->|n1]; first by rewrite divn0.
rewrite ltn_divLR // -ltnS; case: (posnP t) => [->|t0]; first by rewrite /= ltnS muln_gt0 H_gt0.
by rewrite prednK // ltnS -ltnS -[X in (_ < X)%N]addn1; apply: leq_trans (ltn_ord t) few.
Qed.
Definition grp (t : 'I_T) : 'I_H := Ordinal (grp_lt t).

Lemma card_range a b : (#|[set t : 'I_T | (a <= t < b)%N]%SET| <= b - a)%N.
Proof.
rewrite cardE -(size_map val) -(size_iota a (b - a)); apply: uniq_leq_size.
  by rewrite (map_inj_uniq val_inj) enum_uniq.
move=> x /mapP [t]; rewrite mem_enum inE => /andP [at_ tb] ->; rewrite mem_iota at_ subnKC //.
exact: ltnW (leq_ltn_trans at_ tb).
Qed.

Lemma size_grp (h : 'I_H) : (#|[set t | grp t == h]%SET| <= n - (0 < h))%N.
Proof.
pose a := if (h : nat) == 0%N then 0%N else (h * n.-1).+1.
have sub : [set t | grp t == h]%SET \subset [set t : 'I_T | (a <= t < (h.+1 * n.-1).+1)%N]%SET.
  apply/subsetP => t; rewrite !inE => /eqP th; have {}th : (t.-1 %/ n.-1 = h)%N by rewrite -th.
  case: (posnP n.-1) th => [n1|n1 th].
    rewrite n1 divn0 => h0; rewrite /a -h0 /= muln0 ltnS leqn0 -leqn0 -ltnS.
    by apply: leq_trans (ltn_ord t) _; move: few; rewrite n1 muln0.
  have t2 : (t < (h.+1 * n.-1).+1)%N.
    rewrite ltnS; case: (posnP t) => [->//|t0]; rewrite -(prednK t0) -th -ltn_divLR //.
  rewrite t2 andbT /a; case: eqP => // /eqP h0; rewrite -lt0n in h0.
  have : (h * n.-1 <= t.-1)%N by rewrite -th leq_trunc_div.
  case: (posnP t) => [t0|t0]; last by rewrite -[X in (_ < X)%N](prednK t0) ltnS.
  by rewrite t0 /= leqn0 muln_eq0 => /orP [/eqP h00|/eqP n10]; [rewrite h00 in h0|rewrite n10 in n1].
apply: leq_trans (subset_leq_card sub) _; apply: leq_trans (card_range _ _) _.
rewrite /a; case: eqP => [->|/eqP h0]; first by rewrite subn0 mul1n prednK // subn0.
by rewrite lt0n h0 subSS -mulnBl subSnn mul1n subn1.
Qed.

Lemma grp_enum (h : 'I_H) : [seq t <- enum 'I_T | grp t == h] = enum [set t | grp t == h]%SET.
Proof. rewrite enumT /enum_mem; apply: eq_filter => t; by rewrite -[RHS]/(t \in _) inE. Qed.

Lemma size_T (h : 'I_H) : (#|[set t | grp t == h]%SET| <= T)%N.
Proof. by have := max_card (mem [set t | grp t == h]%SET); rewrite card_ord. Qed.

Lemma free_grp (h : 'I_H) : free [seq e t | t <- enum 'I_T & grp t == h].
Proof.
rewrite grp_enum; apply: A1_small; rewrite leq_min size_T andbT.
by apply: leq_trans (size_grp h) (leq_subr _ _).
Qed.

Lemma outside_grp (h : 'I_H) s : (grp s < h)%N ->
  e s \notin <<[seq e t | t <- enum 'I_T & grp t == h]>>%VS.
Proof.
move=> sh; rewrite grp_enum; set S := [set t | grp t == h]%SET.
have sS : s \notin S by rewrite inE -val_eqE /= neq_ltn sh.
have : free [seq e t | t <- enum (s |: S)%SET].
  have leT : (#|s |: S|%SET <= T)%N by have := max_card (mem (s |: S)%SET); rewrite card_ord.
  apply: A1_small; rewrite leq_min leT andbT cardsU1 sS /=.
  apply: leq_trans (leq_add (leqnn 1) (size_grp h)) _.
  by rewrite (leq_ltn_trans (leq0n _) sh) add1n subn1 prednK.
by rewrite (perm_free (perm_map _ (perm_add sS))) /= free_cons => /andP [].
Qed.
End A1.

Theorem width_one_A1 (R : realType) n d T H (E : 'I_T -> 'M[R]_(n, d)) (e : 'I_T -> 'rV[R]_d) :
  (0 < n)%N -> (0 < H)%N -> (T <= H * n.-1 + 1)%N ->
  (* A1 *) (forall S : {set 'I_T}, #|S| = minn n T -> free [seq e t | t <- enum S]) ->
  (* A2 *) (forall t, row_free (E t)) ->
  exists u v : 'I_H -> 'cV[R]_d, forall m dv (Y : 'I_T -> 'rV[R]_m), (m <= dv)%N ->
    exists (V : 'I_H -> 'M[R]_(d, dv)) (O : 'I_H -> 'M[R]_(dv, m)),
      forall t, out u v V O (E t) (e t) = Y t.
Proof.
move=> n0 H0 few A1 A2; apply: (@width_one_real_data R n d T H E e (grp H0 few)) => //.
- exact: size_grp.
- exact: free_grp.
- exact: outside_grp.
Qed.
