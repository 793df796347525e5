(* What the executable calls: [judge], and what it proves that it finds a certificate. *)
From Coq Require Import ZArith Reals List Bool Lia.
Require Import Spec Json Certificate shapes interpolation integers full_rank full_rank_sound.
Require Import dependent_set dependent_set_sound tied_inputs tied_inputs_sound rounding rounding_sound.
Require Import domain domain_sound sequences_sound.
Require Import Blocks transfer network network_sound enclosed enclosed_sound weights_near near_sound every_labelling every_labelling_sound Ranks network_rank network_rank_sound at_zero at_zero_sound.
Import ListNotations.

Local Notation id := (fun x : Z => x).

(* The units u, uv and uf are common denominators: hints that nothing is believed of. *)
Definition interpolation_verified (u : units Z) (c : cert Z) : bool := data_okb above_0 c && readout_okb above_0 c && CheckZ.check u c.
Definition full_rank_verified (u : units Z) (p : Z) (c : cert Z) : bool := data_okb above_0 c && check_full_rank u p c.
Definition dependent_set_verified (uv uf : Z) (N d : nat) (vectors : mat Z) (indices : list nat) (coefficients : vec Z) : bool :=
  mat_okb above_0 N d vectors && check_dependent_set uv uf N d vectors indices coefficients.

Definition impossible_verified (gcd : Z -> Z -> Z) (L uE uq uy uc : Z) (relation : vec Z) (c : cert Z) : bool :=
  inputs_okb above_0 c && check_tied_inputs gcd L uE uq uy uc c relation.

Theorem interpolation_proved u c : interpolation_verified u c = true -> data_ok id c /\ readout_ok id c /\ interpolates id c.
Proof.
  unfold interpolation_verified. rewrite !andb_true_iff. intros [[H1 H2] H3].
  split; [exact (data_okb_ok id above_0 above_0_ok c H1)|]. split; [exact (readout_okb_ok id above_0 above_0_ok c H2)|]. exact (checkZ_sound u c H3).
Qed.
Theorem saturation_proved u s c : CheckZ.check_saturation u s c = true -> saturates id s c.
Proof. exact (SaturationZ.check_saturation_sound u s c). Qed.
Theorem rounding_proved r : check_rounding r = true -> rounded id r.
Proof. exact (check_rounding_sound r). Qed.
Theorem full_rank_proved u p c : full_rank_verified u p c = true -> data_ok id c /\ full_rank id c.
Proof.
  unfold full_rank_verified. rewrite andb_true_iff. intros [H1 H2].
  split; [exact (data_okb_ok id above_0 above_0_ok c H1)|]. exact (check_full_rank_sound u p c H2).
Qed.
Definition every_labelling_verified (gcd : Z -> Z -> Z) (u : units Z) (p : Z) (c : cert Z) : bool :=
  data_okb above_0 c && readout_okb above_0 c && check_every_labelling gcd u p c.
Theorem every_labelling_proved gcd u p c : every_labelling_verified gcd u p c = true -> data_ok id c /\ readout_ok id c /\ every_labelling id c.
Proof.
  unfold every_labelling_verified. rewrite !andb_true_iff. intros [[H1 H2] H3]. apply (data_okb_ok id above_0 above_0_ok) in H1.
  split; [exact H1|]. split; [exact (readout_okb_ok id above_0 above_0_ok c H2)|]. exact (check_every_labelling_sound gcd u p c H1 H3).
Qed.
Theorem dependent_set_proved uv uf N d vectors indices coefficients :
  dependent_set_verified uv uf N d vectors indices coefficients = true ->
  mat_ok id N d vectors /\ dependent_set id N d vectors indices coefficients.
Proof.
  unfold dependent_set_verified. rewrite andb_true_iff. intros [H1 H2].
  split; [exact (mat_okb_ok id above_0 above_0_ok N d vectors H1)|]. exact (check_dependent_set_sound uv uf N d vectors indices coefficients H2).
Qed.
Theorem impossible_proved gcd L uE uq uy uc relation c :
  impossible_verified gcd L uE uq uy uc relation c = true -> inputs_ok id c /\ no_weights id c.
Proof.
  unfold impossible_verified. rewrite andb_true_iff. intros [H1 H2].
  split; [exact (inputs_okb_ok id above_0 above_0_ok c H1)|]. exact (check_tied_inputs_sound gcd L uE uq uy uc c relation H2).
Qed.

Definition network_verified (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let* _ := need Unusable (inputs_okb above_0 c) in check_network common gcd blocks c.
Theorem network_proved common gcd blocks c u : network_verified common gcd blocks c = Got u -> inputs_ok id c /\ computes blocks c.
Proof.
  unfold network_verified. intros H. apply bind_got in H as (v & H1 & H2). apply need_got in H1.
  apply (inputs_okb_ok id above_0 above_0_ok) in H1. split; [exact H1|]. exact (check_network_sound common gcd blocks c u H1 H2).
Qed.

Definition outputs_within_verified (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z) (most : frac Z) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let* _ := need Unusable (inputs_okb above_0 c && above_0 (denom most)) in check_within common gcd most blocks c.
Theorem outputs_within_proved common gcd most blocks c u : outputs_within_verified common gcd most blocks c = Got u ->
  inputs_ok id c /\ denom_ok id most /\ outputs_within most blocks c.
Proof.
  unfold outputs_within_verified. intros H. apply bind_got in H as (v & H1 & H2). apply need_got, andb_prop in H1 as [H1 H3].
  apply (inputs_okb_ok id above_0 above_0_ok) in H1. apply above_0_ok in H3. split; [exact H1|]. split; [exact H3|].
  exact (check_within_sound common gcd most blocks c u H1 H3 H2).
Qed.

Definition nearest_verified (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z) (margin : frac Z) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let* _ := need Unusable (inputs_okb above_0 c && above_0 (numer margin) && above_0 (denom margin)) in check_margins common gcd margin blocks c.
Theorem nearest_proved common gcd margin blocks c u : nearest_verified common gcd margin blocks c = Got u ->
  inputs_ok id c /\ denom_ok id margin /\ (0 < real id margin)%R /\ nearest_labels margin blocks c.
Proof.
  unfold nearest_verified. intros H. apply bind_got in H as (v & H1 & H2). apply need_got, andb_prop in H1 as [H1 H3]. apply andb_prop in H1 as [H1 H4].
  apply (inputs_okb_ok id above_0 above_0_ok) in H1. apply above_0_ok in H3, H4. split; [exact H1|]. split; [exact H3|].
  split; [apply Rdiv_lt_0_compat; now apply IZR_lt|]. exact (check_margins_sound common gcd margin blocks c u H1 H3 H2).
Qed.

Definition near_verified (common : list (mat Z) -> Z) (radius : frac Z) (unknowns : list nat) (inverse : mat Z) (c : cert Z) : result unit :=
  let* _ := need Unusable (data_okb above_0 c && readout_okb above_0 c) in check_near common radius unknowns inverse c.
Theorem near_proved common radius unknowns inverse c u : near_verified common radius unknowns inverse c = Got u ->
  data_ok id c /\ readout_ok id c /\ denom_ok id radius /\ interpolates_near id radius c.
Proof.
  unfold near_verified. intros H. apply bind_got in H as (v & H1 & H). apply need_got, andb_prop in H1 as [H1 H2].
  apply (data_okb_ok id above_0 above_0_ok) in H1. apply (readout_okb_ok id above_0 above_0_ok) in H2.
  split; [exact H1|]. split; [exact H2|]. exact (check_near_sound _ _ _ _ _ _ H1 H2 H).
Qed.

(* The numbers of [more], of symbols that no text has, must be residues, too. *)
Definition rank_verified (more : list (mat Z)) (jacobian : bool) (primes : list Z) (slope : Z) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let* _ := need Unusable (inputs_okb above_0 c) in
  let fits M := match widths (length M) (dimd c) blocks with Some (_, made) => Nat.eqb made (dimm c) | None => false end in
  let* _ := need Unusable (forallb fits (contexts c)) in
  let* _ := need Wrong (jacobian || wide (dimm c) blocks) in
  let* _ := each (each (each (fraction_in primes))) more in
  check_rank primes slope jacobian blocks c.
Theorem jacobian_proved more primes slope blocks c u : rank_verified more true primes slope blocks c = Got u -> inputs_ok id c /\ jacobian_rank blocks c.
Proof.
  unfold rank_verified. intros H. apply bind_got in H as (v & H1 & H). apply need_got, (inputs_okb_ok id above_0 above_0_ok) in H1. split; [exact H1|].
  do 3 apply bind_got in H as (? & _ & H). exact (check_jacobian_sound _ _ _ _ _ H).
Qed.
Definition at_zero_verified (common : list (mat Z) -> Z) (more : list (mat Z)) (primes : list Z) (slope : Z) (blocks : list (block (mat Z))) (c : cert Z) : result unit :=
  let* _ := rank_verified more true primes slope blocks c in need Wrong (zero_outputs common (dimm c) blocks).
Theorem at_zero_proved common more primes slope blocks c u : at_zero_verified common more primes slope blocks c = Got u -> inputs_ok id c /\ every_labelling_by blocks c.
Proof.
  unfold at_zero_verified. intros H. apply bind_got in H as (v & H & Z). apply need_got in Z. unfold rank_verified in H. apply bind_got in H as (w & H1 & H).
  apply need_got, (inputs_okb_ok id above_0 above_0_ok) in H1. split; [exact H1|]. do 3 apply bind_got in H as (? & _ & H). exact (check_at_zero_sound _ _ _ _ _ _ Z H).
Qed.
Lemma wide_ok m blocks : wide m blocks = true -> wide_values m blocks.
Proof.
  unfold wide. intros H of weigh parts seen residual before ->. rewrite rev_app_distr in H. cbn in H. apply Forall_forall. intros q I. rewrite forallb_forall in H. apply Nat.leb_le. now apply H.
Qed.
Theorem features_proved more primes slope blocks c u : rank_verified more false primes slope blocks c = Got u -> inputs_ok id c /\ wide_values (dimm c) blocks /\ features_rank blocks c.
Proof.
  unfold rank_verified. intros H. apply bind_got in H as (v & H1 & H). apply need_got, (inputs_okb_ok id above_0 above_0_ok) in H1. split; [exact H1|].
  apply bind_got in H as (? & _ & H). apply bind_got in H as (? & W & H). apply need_got, wide_ok in W. split; [exact W|].
  apply bind_got in H as (? & _ & H). exact (check_features_sound _ _ _ _ _ H).
Qed.

(* From the bytes to the verdict. Nothing is believed of the four functions that are given: [digests] says whether the
   digests are those of the content, [affordable] whether time and memory suffice, [common] finds a common denominator
   of matrices, [gcd] a common divisor. *)
Section Judge.
Variables (digests : json -> bool) (affordable : claim -> bool) (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z).

(* [more]: the table of symbols and that of positions. Of both all denominators count, as in the checker in Python: of a
   symbol that no text has, too. *)
Definition more_of (l : option (sequences Z * list (mat Z) * mat Z)) (x : claim) : list (mat Z) :=
  match l, x with
  | Some (q, _, _), (Interpolation [] _ | FullRank [] _ _ | EveryLabelling [] _ _ | Jacobian _ _ _ _ | JacobianAtZero _ _ _ _ | Features _ _ _ _) =>
    embedding q :: match positions q with Some P => [P] | None => [] end
  | _, _ => []
  end.
Definition units_of (more : list (mat Z)) (c : cert Z) : units Z :=
  Units (common (more ++ contexts c)) (common (more ++ [queries c])) (common (map key (heads c))) (common (map query (heads c)))
    (common (map value (heads c))) (common [output c]) (common [labels c]).
(* A common multiple of the numbers of tokens. *)
Definition common_count (c : cert Z) : Z :=
  fold_left (fun L M => let n := Z.of_nat (length M) in L / gcd L n * n)%Z (contexts c) 1%Z.
(* The claim about what the blocks before a layer of width d make of the data. *)
Definition advanced (d : nat) (x : claim) : result claim :=
  match x with
  | Interpolation before c => let* c' := derived common gcd d before c in
      let* _ := need Unusable (inputs_okb above_0 c') in Got (Interpolation before c')
  | FullRank before p c => let* c' := derived common gcd d before c in
      let* _ := need Unusable (inputs_okb above_0 c') in Got (FullRank before p c')
  | EveryLabelling before p c => let* c' := derived common gcd d before c in
      let* _ := need Unusable (inputs_okb above_0 c') in Got (EveryLabelling before p c')
  | InterpolationNear before radius unknowns inverse c => let* c' := derived common gcd d before c in
      let* _ := need Unusable (inputs_okb above_0 c') in Got (InterpolationNear before radius unknowns inverse c')
  | x => Got x
  end.
Definition check_claim (more : list (mat Z)) (x : claim) : result unit :=
  match x with
  | Interpolation _ c => need Wrong (interpolation_verified (units_of more c) c)
  | FullRank _ p c => need Wrong (full_rank_verified (units_of more c) p c)
  | EveryLabelling _ p c => need Wrong (every_labelling_verified gcd (units_of more c) p c)
  | InterpolationNear _ radius unknowns inverse c => near_verified common radius unknowns inverse c
  | DependentSet N d vectors indices coefficients =>
      need Wrong (dependent_set_verified (common [vectors]) (common [[coefficients]]) N d vectors indices coefficients)
  | Impossible relation c => need Wrong
      (impossible_verified gcd (common_count c) (common (contexts c)) (common [queries c]) (common [labels c]) (common [[relation]]) relation c)
  | Network blocks c => network_verified common gcd blocks c
  | OutputsWithin most blocks c => outputs_within_verified common gcd most blocks c
  | Nearest margin blocks c => nearest_verified common gcd margin blocks c
  | Jacobian primes slope blocks c => rank_verified more true primes slope blocks c
  | JacobianAtZero primes slope blocks c => at_zero_verified common more primes slope blocks c
  | Features primes slope blocks c => rank_verified more false primes slope blocks c
  end.
Definition check_steering (more : list (mat Z)) (s : option saturation) (x : claim) : bool :=
  match s, x with
  | None, _ => true
  | Some s, (Interpolation _ c | FullRank _ _ c) => CheckZ.check_saturation (units_of more c) s c
  | Some _, _ => false
  end.
Definition check_whole (p : parts) (D : option (domain Z * list (mat Z) * mat Z)) : bool :=
  match D, dims p with
  | None, _ => true
  | Some (D, contexts, queries), T :: _ =>
    check_domain (common (contexts ++ all_contexts D)) (common [queries; all_queries D]) T (data_width p) contexts queries D
  | _, _ => false
  end.
Definition check_rounded (r : option (rounding Z)) : bool := match r with None => true | Some r => check_rounding r end.

Theorem checked d more x y s r q D u : advanced d x = Got y -> check_claim more y = Got u -> check_steering more s y = true -> check_rounded r = true ->
  of_data (prefixes id) q x -> of_data (whole id) D x -> states (Certificate x s r q D).
Proof.
  intros Ha Hx Hs Hr Hq HD. unfold states. cbn [claimed steering of_rounded of_sequences of_domain]. split.
  2:{ split; [destruct r; [exact (rounding_proved _ Hr)|exact I]|now split]. }
  destruct x; cbn [advanced] in Ha.
  1,2: apply bind_got in Ha as (c' & Hc & Ha); apply bind_got in Ha as (v & _ & Ha); injection Ha as <-; cbn in Hx;
    apply need_got in Hx; exists c'; split; [exact (derived_sound _ _ _ _ _ _ Hc)|]; split;
    [first [exact (interpolation_proved _ _ Hx) | exact (full_rank_proved _ _ _ Hx)]
    |destruct s; [exact (saturation_proved _ _ _ Hs)|exact I]].
  { apply bind_got in Ha as (c' & Hc & Ha). apply bind_got in Ha as (v & _ & Ha). injection Ha as <-. split; [|destruct s; [discriminate|reflexivity]].
    cbn in Hx. apply need_got in Hx. exists c'. split; [exact (derived_sound _ _ _ _ _ _ Hc)|exact (every_labelling_proved _ _ _ _ Hx)]. }
  { apply bind_got in Ha as (c' & Hc & Ha). apply bind_got in Ha as (v & _ & Ha). injection Ha as <-. split; [|destruct s; [discriminate|reflexivity]].
    exists c'. split; [exact (derived_sound _ _ _ _ _ _ Hc)|exact (near_proved _ _ _ _ _ _ Hx)]. }
  all: injection Ha as <-; split; [|destruct s; [discriminate|reflexivity]]; cbn in Hx.
  - apply need_got in Hx. exact (dependent_set_proved _ _ _ _ _ _ _ Hx).
  - apply need_got in Hx. exact (impossible_proved _ _ _ _ _ _ _ _ Hx).
  - exact (network_proved _ _ _ _ _ Hx).
  - exact (outputs_within_proved _ _ _ _ _ _ Hx).
  - exact (nearest_proved _ _ _ _ _ _ Hx).
  - exact (jacobian_proved _ _ _ _ _ _ Hx).
  - exact (at_zero_proved _ _ _ _ _ _ _ Hx).
  - exact (features_proved _ _ _ _ _ _ Hx).
Qed.

Definition judge (f : file) : result certificate :=
  let* doc := document f in
  let* p := opened f doc in
  let* _ := need Wrong (digests doc) in
  let* p := with_sequences f p in
  let* r := rounding_of f (fun grid => forallb (check_nearest grid)) p in
  let* _ := need Wrong (check_rounded r) in
  let* D := domain_of f p in
  let* _ := need Wrong (check_whole p D) in
  let* x := content f p in
  let* _ := need Over (affordable x) in
  let* y := advanced (layer_width p) x in
  let more := more_of (sequenced p) y in
  let* _ := check_claim more y in
  let* s := saturation_of f p in
  let* _ := need Wrong (check_steering more s y) in
  Got (Certificate x s r (option_map (fun l => fst (fst l)) (sequenced p)) (option_map (fun l => fst (fst l)) D)).

(* The data of the claim are those in the file, sequences written out. *)
Definition inputs_are (f : file) (p : parts) (c : cert Z) : Prop :=
  inputs_of f p = Got (contexts c, queries c) /\ exists T n rest, dims p = T :: n :: rest /\ dimT c = T /\ dimd c = data_width p.
Lemma with_heads_inputs f p heads output c : with_heads f p heads output = Got c -> inputs_are f p c.
Proof.
  unfold with_heads, inputs_are. destruct (data p) as [|? [|? [|labels [|]]]]; try discriminate. destruct (dims p) as [|T [|n [|d [|m sizes]]]]; try discriminate.
  intros H. apply bind_got in H as ([contexts queries] & I & H). steps. destruct (match sizes with [H; dk; dv] => _ | _ => _ end) as [[h dk] dv]. injection H as <-.
  split; [exact I|]. now exists T, n, (d :: m :: sizes).
Qed.
Lemma layer_of_inputs A f readout unit layer (first : result A) p before a c : layer_of f readout unit layer first p = Got (before, a, c) -> inputs_are f p c.
Proof.
  unfold layer_of. intros H. apply bind_got in H as ([[before' heads] output] & _ & H). steps. subst. eapply with_heads_inputs; eassumption.
Qed.
Lemma ranked_of_inputs f readout rows p before q c : ranked_of f readout rows p = Got (before, q, c) -> inputs_are f p c.
Proof.
  unfold ranked_of. destruct (own_parts p) as [|layer [|groups [|rank [|]]]]; try discriminate. intros H. apply bind_got in H as ([[b a] c'] & L & H).
  apply bind_got in H as (parts & _ & H). destruct parts as [|prime [|value [|]]]; try discriminate.
  do 4 apply bind_got in H as (? & _ & H). injection H as <- <- <-. exact (layer_of_inputs _ _ _ _ _ _ _ _ _ _ L).
Qed.
Lemma blocks_of_inputs f network p blocks c : blocks_of f network p = Got (blocks, c) -> inputs_are f p c.
Proof. unfold blocks_of. intros H. steps. subst. eapply with_heads_inputs; eassumption. Qed.
Lemma content_inputs f p x : content f p = Got x ->
  match data_of x with Some c => inputs_are f p c | None => sequenced p = None /\ exists vectors, data p = [vectors] end.
Proof.
  unfold content. intros H.
  destruct (same (name p) claim_interpolation).
  { unfold interpolation_of in H. destruct (own_parts p) as [|layer [|groups [|]]]; try discriminate. apply bind_got in H as ([[b a] c] & L & H).
    injection H as <-. exact (layer_of_inputs _ _ _ _ _ _ _ _ _ _ L). }
  destruct (same (name p) claim_full_rank).
  { unfold full_rank_of in H. apply bind_got in H as ([[b a] c] & L & H). injection H as <-. exact (ranked_of_inputs _ _ _ _ _ _ _ L). }
  apply bind_got in H as (u & _ & H).
  destruct (same (name p) claim_every).
  { unfold every_labelling_of in H. apply bind_got in H as ([[b a] c] & L & H). injection H as <-. exact (ranked_of_inputs _ _ _ _ _ _ _ L). }
  destruct (same (name p) claim_near).
  { unfold near_of in H. destruct (own_parts p) as [|layer [|box [|]]]; try discriminate. apply bind_got in H as ([[b [[r n] i]] c] & L & H).
    steps. subst x. exact (layer_of_inputs _ _ _ _ _ _ _ _ _ _ L). }
  destruct (same (name p) claim_dependent_set).
  { apply bind_got in H as (v & _ & H). unfold dependent_set_of in H. destruct (own_parts p) as [|relation [|]]; try discriminate.
    destruct (data p) as [|vectors [|]]; try discriminate. destruct (dims p) as [|N [|d [|]]]; try discriminate.
    apply bind_got in H as (w & S & H). apply need_got in S. apply bind_got in H as (parts & _ & H).
    destruct parts as [|i [|k [|]]]; try discriminate. steps. subst x. cbn [data_of]. split; [now destruct (sequenced p)|now exists vectors]. }
  destruct (same (name p) claim_network).
  { unfold network_of in H. destruct (own_parts p) as [|network [|]]; try discriminate. apply bind_got in H as ([b c] & L & H).
    injection H as <-. exact (blocks_of_inputs _ _ _ _ _ L). }
  destruct (same (name p) claim_outputs_within).
  { unfold outputs_within_of in H. destruct (own_parts p) as [|network [|most [|]]]; try discriminate. apply bind_got in H as (m & _ & H).
    apply bind_got in H as (w & _ & H). apply bind_got in H as ([b c] & L & H). injection H as <-. exact (blocks_of_inputs _ _ _ _ _ L). }
  destruct (same (name p) claim_rank).
  { unfold network_rank_of in H. destruct (own_parts p) as [|network [|rank [|]]]; try discriminate. apply bind_got in H as (? & _ & H).
    apply bind_got in H as ([|? [|? [|? [|? [|]]]]] & _ & H); try discriminate. apply bind_got in H as (of & _ & H).
    do 8 apply bind_got in H as (? & _ & H). apply bind_got in H as (c & L & H). do 3 apply bind_got in H as (? & _ & H).
    destruct of; try discriminate; injection H as <-; exact (with_heads_inputs _ _ _ _ _ L). }
  destruct (same (name p) nearest_key).
  { unfold nearest_of in H. destruct (own_parts p) as [|network [|nearest [|]]]; try discriminate. apply bind_got in H as ([|k [|]] & _ & H); try discriminate.
    apply bind_got in H as (m & _ & H). apply bind_got in H as (w & _ & H). apply bind_got in H as ([b c] & L & H). injection H as <-.
    exact (blocks_of_inputs _ _ _ _ _ L). }
  unfold impossible_of in H. destruct (own_parts p) as [|relation [|]]; try discriminate. steps. subst x. eapply with_heads_inputs; eassumption.
Qed.

(* So what is said of sequences and domains is said of these data. *)
Lemma sequences_proved f p p' x : with_sequences f p = Got p' -> content f p' = Got x ->
  of_data (prefixes id) (option_map (fun l => fst (fst l)) (sequenced p')) x.
Proof.
  intros H C. apply content_inputs in C. unfold with_sequences in H.
  destruct (data p) as [|embedding [|positions [|texts [|ends [|labels [|]]]]]]; try (injection H as <-; exact I).
  destruct (dims p) as [|T [|n rest]] eqn:ED; try (injection H as <-; exact I).
  apply bind_got in H as (u & _ & H). apply bind_got in H as (q & Hq & H). destruct (written_out q) as [contexts queries] eqn:W. injection H as <-.
  cbn [sequenced with_data option_map fst of_data]. destruct (data_of x) as [c|]; [|now destruct C as [C _]]. exists c. split; [reflexivity|].
  destruct C as [C (T' & n' & rest' & C' & HT & _)]. unfold inputs_of in C. cbn [sequenced with_data dims] in C, C'. injection C as HE HQ.
  rewrite ED in C'. injection C' as <- <- ->. apply sequences_of_ok in Hq. rewrite HE, HQ in W. apply (written_out_ok _ _ _ _ Hq c HT); now rewrite W.
Qed.
Lemma domain_proved f p D x : domain_of f p = Got D -> check_whole p D = true -> content f p = Got x ->
  of_data (whole id) (option_map (fun l => fst (fst l)) D) x.
Proof.
  intros H W C. destruct D as [[[D contexts] queries]|]; [|exact I]. apply content_inputs in C.
  unfold domain_of in H. destruct (negb (of_kind f domain_kind p)); [discriminate|]. apply bind_got in H as (told & _ & H).
  destruct told as [|? [|[] [|[] [|]]]]; try discriminate. destruct (data p) as [|? [|? [|? [|]]]]; try discriminate.
  cbn [option_map fst of_data]. destruct (data_of x) as [c|]; [|now destruct C as [_ [? C]]]. exists c. split; [reflexivity|].
  destruct C as [C (T & n & rest & E & HT & Hd)]. unfold check_whole in W. rewrite E in H, W.
  apply bind_got in H as (? & _ & H). apply bind_got in H as (? & _ & H). rewrite C in H. cbn [bind] in H. steps.
  exact (check_domain_sound _ _ _ _ _ _ _ W c HT Hd H3 H4).
Qed.

Lemma rounding_of_any f test p r : rounding_of f test p = Got r -> rounding_of f (fun _ _ => true) p = Got r.
Proof.
  unfold rounding_of. destruct (is_null (origin_part p) || of_kind f domain_kind p); [auto|].
  intros H. apply bind_got in H as (? & -> & H). apply bind_got in H as (told & -> & H). cbn [bind]. revert H.
  destruct told as [|? [|? [|? [|? [|]]]]]; try discriminate. destruct (data p) as [|? [|? [|? [|]]]]; try discriminate.
  destruct (dims p) as [|? [|? ?]]; try discriminate. intros H. apply bind_got in H as (before & -> & H). cbn [bind].
  apply bind_got in H as (grid & -> & H). apply bind_got in H as (change & -> & H). cbn [bind].
  apply bind_got in H as (? & -> & H). cbn [bind]. destruct before as [|? [|? [|? [|]]]]; try discriminate.
  apply bind_got in H as (? & -> & H). cbn [bind]. apply bind_got in H as (old & -> & H). cbn [bind].
  apply bind_got in H as (new & -> & H). cbn [bind]. apply bind_got in H as (? & -> & H). cbn [bind].
  apply bind_got in H as (u & _ & H). exact H.
Qed.

(* What a certificate that is found means: the file is one, and what it states is true. *)
Theorem judged f x : judge f = Got x -> read f = Got x /\ states x.
Proof.
  unfold judge, read. intros H. steps. subst x. split.
  - repeat match goal with H : ?t = Got _ |- context [?t] => rewrite H; cbn [bind] end.
    match goal with H : rounding_of _ _ _ = Got _ |- _ => apply rounding_of_any in H; rewrite H; cbn [bind] end.
    repeat match goal with H : ?t = Got _ |- context [?t] => rewrite H; cbn [bind] end. reflexivity.
  - eapply checked; try eassumption; [eapply sequences_proved|eapply domain_proved]; eassumption.
Qed.

(* Where the data are token sequences, or a domain, that is what the claim is about. *)
Theorem accepted_sequences f x q : judge f = Got x -> of_sequences x = Some q -> exists c, data_of (claimed x) = Some c /\ prefixes id q c.
Proof. intros H E. apply judged in H as [_ [_ [_ [H _]]]]. now rewrite E in H. Qed.
Theorem accepted_domain f x D : judge f = Got x -> of_domain x = Some D -> exists c, data_of (claimed x) = Some c /\ whole id D c.
Proof. intros H E. apply judged in H as [_ [_ [_ [_ H]]]]. now rewrite E in H. Qed.

(* These bytes are accepted, so the real layer with these weights outputs exactly these labels: of the data in the file,
   or of the real states that the blocks before it make of them. *)
Theorem accepted_interpolation f x before c :
  judge f = Got x -> claimed x = Interpolation before c -> exists c', behind before c c' /\ interpolates id c'.
Proof.
  intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. destruct H as [(c' & B & (_ & _ & G) & _) _]. now exists c'.
Qed.
(* These bytes are accepted, so no heads of any number and widths and no real weights output these labels. *)
Theorem accepted_impossible f x relation c : judge f = Got x -> claimed x = Impossible relation c -> no_weights id c.
Proof. intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. apply H. Qed.
(* These bytes are accepted, so this network of real weights outputs these labels. *)
Theorem accepted_network f x blocks c : judge f = Got x -> claimed x = Network blocks c -> computes blocks c.
Proof. intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. apply H. Qed.
(* These bytes are accepted, so no output of this network of real weights, with the true exponential, is further from its label. *)
Theorem accepted_outputs_within f x most blocks c : judge f = Got x -> claimed x = OutputsWithin most blocks c -> outputs_within most blocks c.
Proof. intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. apply H. Qed.
(* These bytes are accepted, so at real weights of this shape the derivatives of this network's outputs are independent. *)
Theorem accepted_jacobian f x primes slope blocks c : judge f = Got x -> claimed x = Jacobian primes slope blocks c -> jacobian_rank blocks c.
Proof. intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. apply H. Qed.
(* These bytes are accepted, so for all labels some real weights of this shape output them. *)
Theorem accepted_at_zero f x primes slope blocks c : judge f = Got x -> claimed x = JacobianAtZero primes slope blocks c -> every_labelling_by blocks c.
Proof. intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. apply H. Qed.
(* These bytes are accepted, so at real weights of this shape the rows of features of this network are independent. *)
Theorem accepted_features f x primes slope blocks c : judge f = Got x -> claimed x = Features primes slope blocks c -> features_rank blocks c.
Proof. intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. apply H. Qed.
(* These bytes are accepted, so each output of this network of real weights is nearer to its label than to any other, by the margin. *)
Theorem accepted_nearest f x margin blocks c : judge f = Got x -> claimed x = Nearest margin blocks c -> nearest_labels margin blocks c.
Proof. intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. apply H. Qed.
(* These bytes are accepted, so near the weights in them there are real weights that output exactly these labels: of the
   data in the file, or of the real states that the blocks before the layer make of them. *)
Theorem accepted_interpolation_near f x before radius unknowns inverse c :
  judge f = Got x -> claimed x = InterpolationNear before radius unknowns inverse c -> exists c', behind before c c' /\ interpolates_near id radius c'.
Proof.
  intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. destruct H as [[(c' & B & _ & _ & _ & G) _] _]. now exists c'.
Qed.
(* These bytes are accepted, so whatever the labels, there are real weights that output them: on the data in the file, or
   on the real states that the blocks before the layer make of them. *)
Theorem accepted_every_labelling f x before prime c :
  judge f = Got x -> claimed x = EveryLabelling before prime c -> exists c', behind before c c' /\ every_labelling id c'.
Proof.
  intros H E. apply judged in H as [_ H]. unfold states in H. rewrite E in H. destruct H as [[(c' & B & _ & _ & G) _] _]. now exists c'.
Qed.
End Judge.
