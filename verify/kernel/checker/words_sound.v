(* A certificate in words states what its image in bigZ states, so the checker over bigZ proves it. *)
From Coq Require Import ZArith Reals List Bool Uint63 Lia.
From Bignums Require Import BigZ.
Require Import Spec Certificate shapes interpolation words big_integers integers saturation_sound rounding rounding_sound.
Import ListNotations.
Open Scope R_scope.

Section Map.
Context {a b : Type} (f : a -> b) (va : a -> Z) (vb : b -> Z) (H : forall x, vb (f x) = va x).
Lemma real_map x : real vb (fmap f x) = real va x.
Proof. destruct x. unfold real. cbn. now rewrite !H. Qed.
Lemma ventry_map v j : ventry vb (vmap f v) j = ventry va v j.
Proof.
  unfold ventry, vmap. revert v. induction j as [|j IH]; intros [|x v]; cbn; auto. apply real_map.
Qed.
Lemma mentry_map M i j : mentry vb (mmap f M) i j = mentry va M i j.
Proof.
  unfold mentry. change (@nil (frac b)) with (vmap f []). unfold mmap. rewrite map_nth. apply ventry_map.
Qed.
Lemma ctx_map c t : ctx (cmap f c) t = mmap f (ctx c t).
Proof.
  unfold ctx. cbn [contexts cmap]. change (@nil (vec b)) with (mmap f []). rewrite <- (map_nth (mmap f)).
  destruct (contexts c) as [|x [|y r]]; reflexivity.
Qed.
Lemma tokens_map c t : tokens (cmap f c) t = tokens c t.
Proof. unfold tokens. rewrite ctx_map. apply map_length. Qed.
Lemma of_head_map (ga : head a -> mat a) (gb : head b -> mat b) (G : forall h, gb (hmap f h) = mmap f (ga h)) c h i k :
  of_head vb gb (cmap f c) h i k = of_head va ga c h i k.
Proof.
  unfold of_head. cbn [heads cmap]. destruct (nth_error (heads c) h) as [x|] eqn:E.
  - rewrite (map_nth_error _ _ _ E), G. apply mentry_map.
  - apply nth_error_None in E. rewrite <- (map_length (hmap f)) in E. apply nth_error_None in E. now rewrite E.
Qed.
Lemma logit_ext d dk K K' Q Q' E E' e e' h i :
  (forall h a k, K h a k = K' h a k) -> (forall h a k, Q h a k = Q' h a k) ->
  (forall i a, E i a = E' i a) -> (forall a, e a = e' a) ->
  logit d dk K Q E e h i = logit d dk K' Q' E' e' h i.
Proof.
  intros HK HQ HE He. unfold logit. apply SoundBig.sum_ext. intros x _. rewrite HE. f_equal.
  apply SoundBig.sum_ext. intros k _. rewrite HK. f_equal. apply SoundBig.sum_ext. intros y _. now rewrite HQ, He.
Qed.
Lemma logit_map c t h i :
  logit (dimd c) (dimk c) (of_head vb key (cmap f c)) (of_head vb query (cmap f c)) (mentry vb (ctx (cmap f c) t)) (mentry vb (queries (cmap f c)) t) h i =
  logit (dimd c) (dimk c) (of_head va key c) (of_head va query c) (mentry va (ctx c t)) (mentry va (queries c) t) h i.
Proof.
  rewrite ctx_map. cbn [queries cmap]. apply logit_ext; intros; rewrite ?mentry_map; try reflexivity; now apply of_head_map.
Qed.
Lemma interpolates_map c : interpolates vb (cmap f c) -> interpolates va c.
Proof.
  intros I t j Ht Hj. specialize (I t j Ht Hj). cbn [dimT dimn dimd dimm dimH dimk dimv cmap] in I.
  assert (M : forall M i k, mentry va M i k = mentry vb (mmap f M) i k) by (intros; symmetry; apply mentry_map).
  rewrite (M (labels c)). change (mmap f (labels c)) with (labels (cmap f c)). rewrite <- I. rewrite tokens_map, ctx_map.
  unfold layer. apply SoundBig.sum_ext. intros h _. apply SoundBig.sum_ext. intros x _. cbn [output queries cmap].
  rewrite <- (M (output c)). f_equal. apply SoundBig.sum_ext. intros y _.
  rewrite (of_head_map value value) by reflexivity. f_equal.
  unfold feature. apply SoundBig.sum_ext. intros i Hi. rewrite <- M. f_equal.
  apply SoundBig.softmax_ext; [|exact Hi]. intros i' _. rewrite <- ctx_map. symmetry. apply logit_map.
Qed.
Lemma saturates_map s c : saturates vb s (cmap f c) -> saturates va s c.
Proof.
  intros (H1 & H2 & H3 & H4). do 3 (split; [assumption|]). intros g h t Ht Hh Hgh.
  destruct (H4 g h t Ht Hh Hgh) as (i & Hi & L). rewrite tokens_map in Hi, L. exists i. split; [exact Hi|].
  assert (X := SoundBig.softmax_ext (tokens c t) _ _ i (fun j _ => logit_map c t h j) Hi).
  eapply Rle_lt_trans; [|exact L]. right. f_equal. symmetry. exact X.
Qed.
Lemma rounded_map r : rounded vb (rmap f r) -> rounded va r.
Proof.
  assert (P : forall x, denom_ok vb (fmap f x) -> denom_ok va x) by (intros x; unfold denom_ok; cbn; now rewrite H).
  intros (Hg & Hc & Hp & Hall & x & y & Hin & Heq). cbn [grid change rmap] in *. rewrite real_map in *.
  split; [now apply P|]. split; [now apply P|]. split; [exact Hp|]. split.
  - intros x0 y0 H0. destruct (Hall (fmap f x0) (fmap f y0)) as (X & Y & N & C).
    { apply (in_map (fun q => (fmap f (fst q), fmap f (snd q))) _ (x0, y0)) in H0. exact H0. }
    rewrite !real_map in *. repeat split; try (now apply P); assumption.
  - apply in_map_iff in Hin as ([x0 y0] & [= <- <-] & Hin). exists x0, y0. rewrite !real_map in *. now split.
Qed.
End Map.

Theorem words_interpolates u c : CheckBig.check u (cmap big c) = true -> interpolates wval c.
Proof. intros H. apply (interpolates_map big wval BigZ.to_Z big_ok). now apply checkBig_sound in H. Qed.

(* Words that are not all 0 are above 0. *)
Definition word_above_0 (w : int) : bool := negb (Uint63.eqb w 0%uint63).
Definition words_above_0 (x : wnum) : bool := match x with Pos l => existsb word_above_0 l | Neg _ => false end.
Lemma words_above_0_ok x : words_above_0 x = true -> (0 < wval x)%Z.
Proof.
  destruct x as [l|l]; [|discriminate]. cbn [words_above_0 wval].
  assert (pos : forall r, (0 <= val r)%Z).
  { induction r as [|w r IH]; cbn [val]; [lia|]. assert (W := Uint63.to_Z_bounded w). lia. }
  induction l as [|w l IH]; cbn [existsb val]; [discriminate|]. intros H. apply orb_prop in H as [H|H].
  - assert (W := Uint63.to_Z_bounded w). assert (L := pos l). unfold word_above_0 in H.
    assert (Uint63.to_Z w <> 0%Z); [|lia]. intros E. apply (Uint63.to_Z_inj w 0%uint63) in E. subst. discriminate.
  - assert (W := Uint63.to_Z_bounded w). specialize (IH H). lia.
Qed.

(* An interpolation certificate, in full: what an instance in the kernel states. *)
Definition words_verified (u : units BigZ.t) (c : cert wnum) : bool :=
  data_okb words_above_0 c && readout_okb words_above_0 c && CheckBig.check u (cmap big c).
Theorem words_proved u c : words_verified u c = true -> data_ok wval c /\ readout_ok wval c /\ interpolates wval c.
Proof.
  unfold words_verified. rewrite !andb_true_iff. intros [[H1 H2] H3].
  split; [exact (data_okb_ok wval _ words_above_0_ok c H1)|].
  split; [exact (readout_okb_ok wval _ words_above_0_ok c H2)|]. exact (words_interpolates u c H3).
Qed.

(* Saturation as for the other numbers, and rounding, entry by entry, over Z. *)
Theorem words_saturated u s c : CheckBig.check_saturation u s (cmap big c) = true -> saturates wval s c.
Proof. intros H. apply (saturates_map big wval BigZ.to_Z big_ok). exact (SaturationBig.check_saturation_sound u s _ H). Qed.
Theorem words_rounded r : check_rounding (rmap wval r) = true -> rounded wval r.
Proof. intros H. exact (rounded_map wval wval (fun x => x) (fun _ => eq_refl) r (check_rounding_sound _ H)). Qed.
