(* What the executable calls: [judge], and what its answer [Holds] proves. *)
From Coq Require Import ZArith Reals List Bool Lia.
Require Import Spec Json Certificate shapes interpolation integers full_rank full_rank_sound.
Require Import dependent_set dependent_set_sound tied_inputs tied_inputs_sound.
Import ListNotations.

Local Notation id := (fun x : Z => x).

Lemma above_0_ok x : above_0 x = true -> (0 < x)%Z.
Proof. apply Z.ltb_lt. Qed.

(* The units u, uv and uf are common denominators: hints that nothing is believed of. *)
Definition interpolation_verified (u : units Z) (c : cert Z) : bool := data_okb above_0 c && readout_okb above_0 c && CheckZ.check u c.
Definition full_rank_verified (u : units Z) (p : Z) (c : cert Z) : bool := data_okb above_0 c && check_full_rank u p c.
Definition dependent_set_verified (uv uf : Z) (N d : nat) (vectors : mat Z) (indices : list nat) (coefficients : vec Z) : bool :=
  mat_okb above_0 N d vectors && check_dependent_set uv uf N d vectors indices coefficients.

Definition impossible_verified (gcd : Z -> Z -> Z) (uE uq uy uc : Z) (relation : vec Z) (c : cert Z) : bool :=
  inputs_okb above_0 c && check_tied_inputs gcd uE uq uy uc c relation.

Theorem interpolation_proved u c : interpolation_verified u c = true -> data_ok id c /\ readout_ok id c /\ interpolates id c.
Proof.
  unfold interpolation_verified. rewrite !andb_true_iff. intros [[H1 H2] H3].
  split; [exact (data_okb_ok id above_0 above_0_ok c H1)|]. split; [exact (readout_okb_ok id above_0 above_0_ok c H2)|]. exact (checkZ_sound u c H3).
Qed.
Theorem full_rank_proved u p c : full_rank_verified u p c = true -> data_ok id c /\ full_rank id c.
Proof.
  unfold full_rank_verified. rewrite andb_true_iff. intros [H1 H2].
  split; [exact (data_okb_ok id above_0 above_0_ok c H1)|]. exact (check_full_rank_sound u p c H2).
Qed.
Theorem dependent_set_proved uv uf N d vectors indices coefficients :
  dependent_set_verified uv uf N d vectors indices coefficients = true ->
  mat_ok id N d vectors /\ dependent_set id N d vectors indices coefficients.
Proof.
  unfold dependent_set_verified. rewrite andb_true_iff. intros [H1 H2].
  split; [exact (mat_okb_ok id above_0 above_0_ok N d vectors H1)|]. exact (check_dependent_set_sound uv uf N d vectors indices coefficients H2).
Qed.
Theorem impossible_proved gcd uE uq uy uc relation c :
  impossible_verified gcd uE uq uy uc relation c = true -> inputs_ok id c /\ no_weights id c.
Proof.
  unfold impossible_verified. rewrite andb_true_iff. intros [H1 H2].
  split; [exact (inputs_okb_ok id above_0 above_0_ok c H1)|]. exact (check_tied_inputs_sound gcd uE uq uy uc c relation H2).
Qed.

(* From the bytes to the verdict. Nothing is believed of the four functions that are given: [digests] says whether the
   digests are those of the content, [affordable] whether time and memory suffice, [common] finds a common denominator
   of matrices, [gcd] a common divisor. *)
Section Judge.
Variables (digests : json -> bool) (affordable : certificate -> bool) (common : list (mat Z) -> Z) (gcd : Z -> Z -> Z).

Definition units_of (c : cert Z) : units Z :=
  Units (common (contexts c)) (common [queries c]) (common (map key (heads c))) (common (map query (heads c)))
    (common (map value (heads c))) (common [output c]) (common [labels c]).
Definition check (x : certificate) : bool :=
  match x with
  | Interpolation c => interpolation_verified (units_of c) c
  | FullRank p c => full_rank_verified (units_of c) p c
  | DependentSet N d vectors indices coefficients =>
      dependent_set_verified (common [vectors]) (common [[coefficients]]) N d vectors indices coefficients
  | Impossible relation c =>
      impossible_verified gcd (common (contexts c)) (common [queries c]) (common [labels c]) (common [[relation]]) relation c
  end.
Theorem checked x : check x = true -> states x.
Proof.
  destruct x; cbn; intros H; first
    [exact (interpolation_proved _ _ H) | exact (full_rank_proved _ _ _ H) | exact (dependent_set_proved _ _ _ _ _ _ _ H)
    |exact (impossible_proved _ _ _ _ _ _ _ H)].
Qed.

Definition judge (f : file) : status :=
  let found :=
    let* doc := document f in
    let* parts := opened f doc in
    let* _ := need Wrong (digests doc) in
    let* x := content f parts in
    let* _ := need Over (affordable x) in need Wrong (check x) in
  match found with Got _ => Holds | No Holds => Wrong | No s => s end.

(* What [Holds] means: the file is a certificate, and what it states is true. *)
Theorem judged f : judge f = Holds -> exists x, read f = Got x /\ states x.
Proof.
  unfold judge, read. destruct (document f) as [doc|[]]; cbn; try discriminate.
  destruct (opened f doc) as [parts|[]]; cbn; try discriminate.
  destruct (digests doc); cbn; try discriminate. destruct (content f parts) as [x|[]]; cbn; try discriminate.
  destruct (affordable x); cbn; try discriminate. destruct (check x) eqn:E; cbn; try discriminate.
  intros _. exists x. split; [reflexivity|]. now apply checked.
Qed.
End Judge.
