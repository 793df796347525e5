(* The computation behind an "impossible" certificate, over Z (docs/certificate.md, impossible). *)
From Coq Require Import ZArith List Bool Mergesort Orders.
Require Import Spec numbers interpolation integers.
Import ListNotations CheckZ.
Open Scope Z_scope.

(* Lists in lexicographic order. *)
Section Lexicographic.
Context {A : Type} (cmp : A -> A -> comparison).
Fixpoint lexicographic (x y : list A) : comparison :=
  match x, y with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | a :: x', b :: y' => match cmp a b with Eq => lexicographic x' y' | order => order end
  end.
Lemma lexicographic_opp : (forall a b, cmp b a = CompOpp (cmp a b)) ->
  forall x y, lexicographic y x = CompOpp (lexicographic x y).
Proof.
  intros H. induction x as [|a x IH]; intros [|b y]; try reflexivity. cbn. rewrite H. destruct (cmp a b); cbn; auto.
Qed.
Lemma lexicographic_eq : (forall a b, cmp a b = Eq -> a = b) -> forall x y, lexicographic x y = Eq -> x = y.
Proof.
  intros H. induction x as [|a x IH]; intros [|b y]; try discriminate; [reflexivity|]. cbn.
  destruct (cmp a b) eqn:E; try discriminate. intros L. f_equal; auto.
Qed.
End Lexicographic.

(* The kind of an example: the query divided by g, then the sorted rows of g times the centred tokens, each as often as
   their common divisor leaves it: a context and its copy twice over are attended to alike. *)
Definition kind := list (list Z).
Definition compare_rows : list Z -> list Z -> comparison := lexicographic Z.compare.
Definition compare_kinds : kind -> kind -> comparison := lexicographic compare_rows.
Definition entry := (kind * (Z * Z))%type.   (* of the fraction a / b *)

Definition at_most (c : comparison) : bool := match c with Gt => false | _ => true end.
Lemma at_most_total c : at_most c = true \/ at_most (CompOpp c) = true.
Proof. destruct c; cbn; auto. Qed.
Lemma compare_rows_opp x y : compare_rows y x = CompOpp (compare_rows x y).
Proof. apply lexicographic_opp. intros a b. apply Z.compare_antisym. Qed.

Module Rows <: TotalLeBool.
  Definition t := list Z.
  Definition leb x y := at_most (compare_rows x y).
  Lemma leb_total x y : leb x y = true \/ leb y x = true.
  Proof. unfold leb. rewrite (compare_rows_opp x y). apply at_most_total. Qed.
End Rows.
Module Entries <: TotalLeBool.
  Definition t := entry.
  Definition leb (x y : t) := at_most (compare_kinds (fst x) (fst y)).
  Lemma leb_total x y : leb x y = true \/ leb y x = true.
  Proof.
    unfold leb. replace (compare_kinds (fst y) (fst x)) with (CompOpp (compare_kinds (fst x) (fst y))); [apply at_most_total|].
    symmetry. apply lexicographic_opp, compare_rows_opp.
  Qed.
End Entries.
Module SortRows := Sort Rows.
Module SortEntries := Sort Entries.

Section Relation.
Variable gcd : Z -> Z -> Z.   (* a hint: what is divided by it is multiplied back *)

(* A common divisor of the entries, with the sign of the first that is not 0. *)
Definition signed_gcd (e : list Z) : Z :=
  let g := fold_left gcd e 0 in
  match find nonzero e with Some x => if x <? 0 then - g else g | None => g end.

Definition all_0 : list Z -> bool := forallb (Z.eqb 0).
Definition equal_rows x y : bool := match compare_rows x y with Eq => true | _ => false end.

(* The greatest common divisor of the lengths of the runs of equal rows; k equal to x so far. *)
Fixpoint common_run (x : list Z) (k : nat) (rows : list (list Z)) : nat :=
  match rows with
  | [] => k
  | y :: r => if equal_rows x y then common_run x (S k) r else Nat.gcd k (common_run y 1 r)
  end.
(* Every k-th row, after the next [skip]. *)
Fixpoint every (k skip : nat) (rows : list (list Z)) : list (list Z) :=
  match rows, skip with
  | [], _ => []
  | x :: r, O => x :: every k (Nat.pred k) r
  | _ :: r, S skip' => every k skip' r
  end.
(* Sorted rows, k times fewer where each occurs a multiple of k times. *)
Definition reduced (rows : list (list Z)) : list (list Z) :=
  match rows with
  | [] => []
  | x :: r =>
    let k := common_run x 1 r in
    let fewer := every k 0 rows in
    match lexicographic compare_rows (flat_map (fun y => repeat y k) fewer) rows with Eq => fewer | _ => rows end
  end.

(* The kind of an example and its g; None where there is nothing to attend to, or no query. *)
Definition kind_of (e : list Z) (C : list (list Z)) : option (option (kind * Z)) :=
  if forallb all_0 C || all_0 e then Some None
  else
    let g := signed_gcd e in
    let q := map (fun x => x / g) e in
    if nonzero g && equal_rows (map (Z.mul g) q) e
    then Some (Some (q :: reduced (SortRows.sort (map (map (Z.mul g)) C)), g)) else None.

(* Of example t with n tokens: L/n times the sum of its tokens, and the kind of L times each token less that. L is a
   common multiple of the numbers of tokens. *)
Definition centred (L : Z) (s : list Z) : list (list Z) -> list (list Z) :=
  let minus_s := map Z.opp s in map (fun x => axpy L x minus_s).
Definition sum_of_tokens (d : nat) (E : list (list Z)) : list Z := lincomb d (map (fun _ => 1) E) E.
Definition example (L uE uq : Z) (c : cert Z) (t : nat) : option (list Z * option (kind * Z)) :=
  match clear_context (dimd c) uE (ctx c t), clearv (dimd c) uq (nth t (queries c) []) with
  | Some E, Some e =>
    let times := L / Z.of_nat (length E) in
    let s := map (Z.mul times) (sum_of_tokens (dimd c) E) in
    if times * Z.of_nat (length E) =? L then option_map (pair s) (kind_of e (centred L s E)) else None
  | _, _ => None
  end.

(* The relation's coefficient over g, for each example that has a kind. *)
Fixpoint entries (F : list Z) (examples : list (list Z * option (kind * Z))) : list entry :=
  match F, examples with
  | f :: F', (_, Some (k, g)) :: r => (k, (f, g)) :: entries F' r
  | _ :: F', (_, None) :: r => entries F' r
  | _, _ => []
  end.

(* Fractions of one kind stand together, and add up to 0. *)
Definition lowest (a b : Z) : Z * Z :=
  let g := gcd a b in
  if (a / g * g =? a) && (b / g * g =? b) then (a / g, b / g) else (a, b).
Fixpoint runs (k : kind) (a b : Z) (l : list entry) : bool :=
  match l with
  | [] => a =? 0
  | (k', (a', b')) :: r =>
    match compare_kinds k k' with
    | Eq => let (x, y) := lowest (a * b' + a' * b) (b * b') in runs k x y r
    | _ => (a =? 0) && runs k' a' b' r
    end
  end.
Definition cancels (l : list entry) : bool :=
  match SortEntries.sort l with [] => true | (k, (a, b)) :: r => runs k a b r end.

(* L: a common multiple of the numbers of tokens. uE, uq, uy, uc: common denominators of contexts, queries, labels and
   relation. *)
Definition check_tied_inputs (L uE uq uy uc : Z) (c : cert Z) (relation : vec Z) : bool :=
  nonzero L && nonzero uE && nonzero uq && nonzero uy && nonzero uc &&
  match clearv (dimT c) uc relation, clearm (dimT c) (dimm c) uy (labels c), mapM (example L uE uq c) (seq 0 (dimT c)) with
  | Some F, Some Y, Some examples =>
    all_0 (lincomb (dimd c) F (map fst examples)) && cancels (entries F examples) &&
    existsb nonzero (lincomb (dimm c) F Y)
  | _, _, _ => false
  end.
End Relation.
