(* Lemma 4 (what is forbidden) and step 4 (one example at a time). Rows are [x, z]: x the feature of the new head, of
   width a, and z the features of the earlier heads, of width b. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import families.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Placement.
Variables (F : fieldType) (a b : nat).
Implicit Types (W : {vspace 'rV[F]_(a + b)}) (z : 'rV[F]_b) (X : nat -> 'rV[F]_a).

(* [x, z] -> z *)
Definition earlier : 'Hom([vectType F of 'rV[F]_(a + b)], [vectType F of 'rV[F]_b]) := linfun rsubmx.
Lemma earlierE (x : 'rV[F]_a) z : earlier (row_mx x z) = z.
Proof. by rewrite lfunE /= row_mxKr. Qed.

(* n independent candidates X k give n independent rows [X k, z]. *)
Lemma free_row_mx n z X : free [seq X k | k <- iota 0 n] -> free [seq row_mx (X k) z | k <- iota 0 n].
Proof.
move=> freeX; apply: (@free_map_inv _ _ _ [linear of lsubmx]); rewrite -map_comp.
by rewrite (@eq_map _ _ _ X) // => k /=; rewrite row_mxKl.
Qed.

(* They do not all lie in a space W of dimension below n ... *)
Lemma candidate_linear W n z X : free [seq X k | k <- iota 0 n] -> (\dim W < n)%N ->
  exists2 k, (k < n)%N & row_mx (X k) z \notin W.
Proof.
move=> /(free_row_mx z) freeY dimW.
have [/hasP [k]|/hasPn none] := boolP (has (fun k => row_mx (X k) z \notin W) (iota 0 n)).
  by rewrite mem_iota => kn ?; exists k.
have : (<<[seq row_mx (X k) z | k <- iota 0 n]>> <= W)%VS.
  by apply/span_subvP => _ /mapP [k /none kW ->]; rewrite negbK in kW.
by move/dimvS; rewrite (eqP freeY) size_map size_iota leqNgt dimW.
Qed.

(* ... nor in one of dimension below s + n - 1 whose image in the earlier columns has dimension s or more: their own
   image is the one vector z, so their differences span n - 1 dimensions of the kernel. *)
Lemma candidate_affine W n s z X : free [seq X k | k <- iota 0 n] ->
  (s <= \dim (earlier @: W))%N -> (\dim W < s + n.-1)%N -> exists2 k, (k < n)%N & row_mx (X k) z \notin W.
Proof.
move=> /(free_row_mx z) freeY dimZ dimW.
have [/hasP [k]|/hasPn none] := boolP (has (fun k => row_mx (X k) z \notin W) (iota 0 n)).
  by rewrite mem_iota => kn ?; exists k.
set Ys := [seq row_mx (X k) z | k <- iota 0 n] in freeY.
have YW : (<<Ys>> <= W)%VS.
  by apply/span_subvP => _ /mapP [k /none kW ->]; rewrite negbK in kW.
have imY : (\dim (earlier @: <<Ys>>) <= 1)%N.
  apply: (@leq_trans (\dim <[z]>)); last by rewrite dim_vline; case: (z != 0).
  rewrite limg_span; apply/dimvS/span_subvP => _ /mapP [_ /mapP [k _ ->] ->].
  by rewrite earlierE memv_line.
have := limg_ker_dim earlier <<Ys>>; rewrite (eqP freeY) size_map size_iota => dimY.
have := limg_ker_dim earlier W => dimW'.
have := dimvS (capvS YW (subvv (lker earlier))) => cap.
exfalso; move: dimW; rewrite -dimW' -dimY; apply/negP; rewrite -leqNgt.
by rewrite addnC leq_add // -subn1 leq_subLR addnC; apply: leq_add.
Qed.

(* Step 4. The rows z s, s in S, are independent. The members t of the group G, at most n - 1 of them, or n where S is
   empty, have n independent candidates X t k each. Then each t can take a candidate k = alpha t such that all rows are
   independent: those of S with any new part L s, and those of G. *)
Lemma place_group (I : eqType) (n : nat) (S G : seq I) (z : I -> 'rV[F]_b) (L : I -> 'rV[F]_a)
    (X : I -> nat -> 'rV[F]_a) :
  free [seq z s | s <- S] -> uniq G ->
  (forall t, t \in G -> free [seq X t k | k <- iota 0 n]) ->
  (size G <= n - (S != [::]))%N ->
  exists alpha : I -> nat, (forall t, t \in G -> (alpha t < n)%N) /\
    free ([seq row_mx (X t (alpha t)) (z t) | t <- G] ++ [seq row_mx (L s) (z s) | s <- S]).
Proof.
move=> freeS; elim: G => [|t G IH] /=.
  move=> _ _ _; exists (fun => 0%N); split=> //.
  apply: (@free_map_inv _ _ _ [linear of rsubmx]); rewrite -map_comp.
  by rewrite (@eq_map _ _ _ z) // => k /=; rewrite row_mxKr.
case/andP=> tG uG freeX sizeG.
have [||alpha [alpha_n freeG]] := IH uG; [|exact: ltnW|].
  by move=> r rG; apply: freeX; rewrite in_cons rG orbT.
set Vs := (X in free X) in freeG.
have [k kn kW] : exists2 k, (k < n)%N & row_mx (X t k) (z t) \notin <<Vs>>%VS.
  have freeXt := freeX t (mem_head _ _).
  have dimW : \dim <<Vs>> = (size S + size G)%N.
    by rewrite (eqP freeG) size_cat !size_map addnC.
  case: (S =P [::]) => [S0|/eqP S0]; last first.
    apply: (candidate_affine (s := size S)) => //.
      rewrite limg_span -(size_map z S) -(eqP freeS); apply: dimvS.
      apply: sub_span => _ /mapP [s sS ->]; apply/mapP; exists (row_mx (L s) (z s)).
        by rewrite mem_cat; apply/orP; right; apply/mapP; exists s.
      by rewrite earlierE.
    by rewrite dimW ltn_add2l -subn1; move: sizeG; rewrite S0.
  by apply: candidate_linear => //; rewrite dimW; move: sizeG; rewrite S0 /= subn0.
exists (fun r => if r == t then k else alpha r); split.
  by move=> r; rewrite in_cons; case: eqP => [_ _|_ /= /alpha_n].
rewrite /= eqxx free_cons.
have -> : [seq row_mx (X r (if r == t then k else alpha r)) (z r) | r <- G] =
          [seq row_mx (X r (alpha r)) (z r) | r <- G].
  by apply/eq_in_map => r rG; case: eqP => // rt; rewrite -rt rG in tG.
by rewrite kW.
Qed.
End Placement.
