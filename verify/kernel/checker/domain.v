(* The computation behind an origin "domain", over Z: two sorted lists of pairs are equal, and nothing stands twice. *)
From Coq Require Import ZArith List Bool Orders Mergesort.
Require Import Spec numbers interpolation integers.
Import ListNotations CheckZ.
Open Scope Z_scope.

Fixpoint lexicographic {A} (cmp : A -> A -> comparison) (x y : list A) : comparison :=
  match x, y with
  | [], [] => Eq | [], _ => Lt | _, [] => Gt
  | a :: x', b :: y' => match cmp a b with Eq => lexicographic cmp x' y' | r => r end
  end.
(* A pair is its query, then the rows of its context. *)
Definition compare_pairs : list (list Z) -> list (list Z) -> comparison := lexicographic (lexicographic Z.compare).

(* An order: [Eq] is equality, to swap is to turn round, and [Lt] is transitive. *)
Definition ordered {A} (cmp : A -> A -> comparison) : Prop :=
  (forall x y, cmp x y = Eq <-> x = y) /\ (forall x y, cmp y x = CompOpp (cmp x y)) /\
  forall x y z, cmp x y = Lt -> cmp y z = Lt -> cmp x z = Lt.
Lemma ordered_lexicographic {A} (cmp : A -> A -> comparison) : ordered cmp -> ordered (lexicographic cmp).
Proof.
  intros (E & S & T). split; [|split].
  - induction x as [|a x IH]; intros [|b y]; cbn; try easy. destruct (cmp a b) eqn:C.
    + apply E in C. subst b. rewrite IH. split; [now intros ->|now intros [= ->]].
    + split; [easy|]. intros [= -> ->]. now rewrite (proj2 (E b b) eq_refl) in C.
    + split; [easy|]. intros [= -> ->]. now rewrite (proj2 (E b b) eq_refl) in C.
  - induction x as [|a x IH]; intros [|b y]; cbn; try easy. rewrite (S a b). destruct (cmp a b); cbn; [apply IH|easy|easy].
  - induction x as [|a x IH]; intros [|b y] [|c z]; cbn; try easy.
    destruct (cmp a b) eqn:C; [apply E in C; subst b|intros _|easy].
    + destruct (cmp a c); [apply IH|easy|easy].
    + destruct (cmp b c) eqn:D; [apply E in D; subst c; now rewrite C|now rewrite (T _ _ _ C D)|easy].
Qed.
Lemma ordered_pairs : ordered compare_pairs.
Proof.
  do 2 apply ordered_lexicographic. split; [exact Z.compare_eq_iff|]. split; [exact (fun x y => Z.compare_antisym x y)|exact Zcompare.Zcompare_Lt_trans].
Qed.

Module Pairs <: TotalLeBool.
  Definition t := list (list Z).
  Definition leb (x y : t) : bool := match compare_pairs x y with Gt => false | _ => true end.
  Lemma leb_total x y : leb x y = true \/ leb y x = true.
  Proof. unfold leb. rewrite (proj1 (proj2 ordered_pairs) x y). destruct (compare_pairs x y); cbn; auto. Qed.
End Pairs.
Module PairSort := Sort Pairs.

Fixpoint increasing (l : list (list (list Z))) : bool :=
  match l with
  | x :: r => match r with y :: _ => match compare_pairs x y with Lt => increasing r | _ => false end | [] => true end
  | [] => true
  end.
Definition cleared (d : nat) (u : Z) (M : mat Z) : option (list (list Z)) := clearm (length M) d u M.
Definition check_domain (u v : Z) (T d : nat) (contexts : list (mat Z)) (queries : mat Z) (D : domain Z) : bool :=
  nonzero u && nonzero v && Nat.eqb (length queries) T && (Nat.eqb (length contexts) 1 || Nat.eqb (length contexts) T) &&
  match mapM (cleared d u) contexts, mapM (clearv d v) queries, mapM (cleared d u) (all_contexts D), mapM (clearv d v) (all_queries D) with
  | Some Es, Some es, Some every, Some all =>
    let found := map (fun p => snd p :: fst p) (combine (match Es with [E] => repeat E T | _ => Es end) es) in
    let pairs := PairSort.sort (flat_map (fun E => map (fun e => e :: E) all) every) in
    match lexicographic compare_pairs (PairSort.sort found) pairs with Eq => increasing pairs | _ => false end
  | _, _, _, _ => false
  end.
