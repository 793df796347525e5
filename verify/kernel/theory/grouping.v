(* Corollary 1: A1 gives P for T <= H(r-1)+1 examples in groups of r, r-1, r-1, ... A1 is used at strength r. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import layer.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Grouping.
Variables (F : fieldType) (r d T H : nat) (e : 'I_T -> 'rV[F]_d).
Implicit Types S : {set 'I_T}.

Lemma enum_setU1 S t : t \notin S -> perm_eq (enum (t |: S)%SET) (t :: enum S).
Proof.
move=> tS; apply: uniq_perm => [||s]; rewrite ?enum_uniq //.
  by rewrite cons_uniq enum_uniq mem_enum tS.
by rewrite in_cons !mem_enum !inE.
Qed.

(* Every set of at most min(r, T) examples has independent queries: fill it up to that size. *)
Lemma A1_small : A1 r e -> forall S, (#|S| <= minn r T)%N -> free [seq e t | t <- enum S].
Proof.
move=> all_free S leS; move: {2}(minn r T - #|S|)%N (erefl (minn r T - #|S|)%N) => k.
elim: k S leS => [|k IH] S leS kE.
  by apply: all_free; apply/eqP; rewrite eqn_leq leS -subn_eq0 kE.
have [t tS] : exists t, t \notin S.
  apply/existsP; rewrite -negb_forall; apply/negP => /forallP all_in.
  have : (#|S| = T)%N by rewrite -[RHS]card_ord; apply: eq_card => t; rewrite all_in.
  by move=> ST; move: kE; rewrite ST (eqP (_ : (minn r T - T)%N == 0%N)) // subn_eq0 geq_minr.
have leS' : (#|t |: S| <= minn r T)%N by rewrite cardsU1 tS /= add1n -subn_gt0 kE.
have := IH (t |: S)%SET leS'; rewrite cardsU1 tS /= add1n subnS kE => /(_ (erefl _)).
by rewrite (perm_free (perm_map _ (enum_setU1 tS))) /= free_cons => /andP [].
Qed.

Hypotheses (A1_holds : A1 r e) (r_gt0 : (0 < r)%N) (H_gt0 : (0 < H)%N) (few : (T <= H * r.-1 + 1)%N).

(* Example 0 and the next r-1 make the first group, every r-1 more the next: t is in group (t-1) / (r-1). *)
Lemma block_lt (t : 'I_T) : (t.-1 %/ r.-1 < H)%N.
Proof.
case: (posnP r.-1) => [->|r1]; first by rewrite divn0.
rewrite ltn_divLR // -ltnS; case: (posnP t) => [->|t0]; first by rewrite /= ltnS muln_gt0 H_gt0.
by rewrite prednK // ltnS -ltnS -[X in (_ < X)%N]addn1; apply: leq_trans (ltn_ord t) few.
Qed.
Definition block_of (t : 'I_T) : 'I_H := Ordinal (block_lt t).

Lemma card_range a b : (#|[set t : 'I_T | (a <= t < b)%N]%SET| <= b - a)%N.
Proof.
rewrite cardE -(size_map val) -(size_iota a (b - a)); apply: uniq_leq_size.
  by rewrite (map_inj_uniq val_inj) enum_uniq.
move=> x /mapP [t]; rewrite mem_enum inE => /andP [at_ tb] ->; rewrite mem_iota at_ subnKC //.
exact: ltnW (leq_ltn_trans at_ tb).
Qed.

Lemma size_block (h : 'I_H) : (#|[set t | block_of t == h]%SET| <= r - (0 < h))%N.
Proof.
pose a := if (h : nat) == 0%N then 0%N else (h * r.-1).+1.
have sub : [set t | block_of t == h]%SET \subset [set t : 'I_T | (a <= t < (h.+1 * r.-1).+1)%N]%SET.
  apply/subsetP => t; rewrite !inE => /eqP th; have {}th : (t.-1 %/ r.-1 = h)%N by rewrite -th.
  case: (posnP r.-1) th => [r1|r1 th].
    rewrite r1 divn0 => h0; rewrite /a -h0 /= muln0 ltnS leqn0 -leqn0 -ltnS.
    by apply: leq_trans (ltn_ord t) _; move: few; rewrite r1 muln0.
  have t2 : (t < (h.+1 * r.-1).+1)%N.
    rewrite ltnS; case: (posnP t) => [->//|t0]; rewrite -(prednK t0) -th -ltn_divLR //.
  rewrite t2 andbT /a; case: eqP => // /eqP h0; rewrite -lt0n in h0.
  have : (h * r.-1 <= t.-1)%N by rewrite -th leq_trunc_div.
  case: (posnP t) => [t0|t0]; last by rewrite -[X in (_ < X)%N](prednK t0) ltnS.
  by rewrite t0 /= leqn0 muln_eq0 => /orP [/eqP h00|/eqP r10]; [rewrite h00 in h0|rewrite r10 in r1].
apply: leq_trans (subset_leq_card sub) _; apply: leq_trans (card_range _ _) _.
rewrite /a; case: eqP => [->|/eqP h0]; first by rewrite subn0 mul1n prednK // subn0.
by rewrite lt0n h0 subSS -mulnBl subSnn mul1n subn1.
Qed.

Lemma block_enum (h : 'I_H) : [seq t <- enum 'I_T | block_of t == h] = enum [set t | block_of t == h]%SET.
Proof. by rewrite enumT /enum_mem; apply: eq_filter => t; rewrite -[RHS]/(t \in _) inE. Qed.

Lemma card_le_T S : (#|S| <= T)%N.
Proof. by have := max_card (mem S); rewrite card_ord. Qed.

Theorem A1_gives_P : P r e block_of.
Proof.
split=> [h | h | h s sh]; first exact: size_block.
  rewrite /queries block_enum; apply: A1_small => //; rewrite leq_min card_le_T andbT.
  by apply: leq_trans (size_block h) (leq_subr _ _).
rewrite /queries block_enum; set S := [set t | block_of t == h]%SET.
have sS : s \notin S by rewrite inE -val_eqE /= neq_ltn sh.
have : free [seq e t | t <- enum (s |: S)%SET].
  apply: A1_small => //; rewrite leq_min card_le_T andbT cardsU1 sS /=.
  apply: leq_trans (leq_add (leqnn 1) (size_block h)) _.
  by rewrite (leq_ltn_trans (leq0n _) sh) add1n subn1 prednK.
by rewrite (perm_free (perm_map _ (enum_setU1 sS))) /= free_cons => /andP [].
Qed.
End Grouping.

(* The paper asks A1 at strength n; strength r <= n follows. *)
Lemma A1_weaken (F : fieldType) n r d T (e : 'I_T -> 'rV[F]_d) : (r <= n)%N -> A1 n e -> A1 r e.
Proof.
by move=> rn A1_n S cardS; apply: (A1_small A1_n); rewrite cardS leq_min geq_minr andbT geq_min rn.
Qed.
