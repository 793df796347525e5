(* The computation behind a full-rank certificate, over Z: features modulo p, then elimination. *)
From Coq Require Import ZArith List Bool.
Require Import Spec numbers interpolation integers residues.
Import ListNotations CheckZ.
Open Scope Z_scope.

(* The logits in units of ln 2, less their smallest: D is the denominator of the logits. *)
Definition shift (D low l : Z) : option Z :=
  let k := l / D in
  if k * D =? l then let s := k - low in if 0 <=? s then Some s else None else None.
Definition shifts (D : Z) (ls : list Z) : option (list Z) :=
  let low := match ls with [] => 0 | l :: r => fold_right min2 (l / D) (map (fun l => l / D) r) end in
  mapM (shift D low) ls.

(* 2^s modulo p, where 2^(p-1) = 1. *)
Definition power_of_2 (p s : Z) : Z := power p 2 (s mod (p - 1)).

Definition head_row (p D uE : Z) (d dk : nat) (E : list (list Z)) (e : list Z) (y : chead) : option (list Z) :=
  match shifts D (logits dk (cK y) (cQ y) E e) with
  | None => None
  | Some ss =>
    let ws := map (power_of_2 p) ss in
    match inverse p (uE * total ws mod p) with
    | None => None
    | Some i => Some (map (fun z => z * i mod p) (lincomb d ws E))
    end
  end.

Definition example_row (p : Z) (u : units Z) (D : Z) (c : cert Z) (hs : list (chead)) (t : nat) : option (list Z) :=
  match clear_context (dimd c) (uE _ u) (ctx c t), clearv (dimd c) (uq _ u) (nth t (queries c) []) with
  | Some E, Some e => option_map (@concat Z) (mapM (head_row p D (uE _ u) (dimd c) (dimk c) E e) hs)
  | _, _ => None
  end.

Definition modulus (p : Z) : bool := (2 <? p) && (power p 2 (p - 1) =? 1).

Definition check_full_rank (u : units Z) (p : Z) (c : cert Z) : bool :=
  modulus p && Nat.leb (dimm c) (dimv c) &&
  nonzero (uE _ u) && nonzero (uq _ u) && nonzero (uk _ u) && nonzero (uw _ u) &&
  Nat.eqb (length (heads c)) (dimH c) &&
  match mapM (clear_key_query u (dimd c) (dimk c)) (heads c) with
  | None => false
  | Some hs =>
    let D := (uE _ u * uq _ u) * (uk _ u * uw _ u) in
    match mapM (example_row p u D c hs) (seq 0 (dimT c)) with
    | None => false
    | Some rows => independent p (dimT c) rows
    end
  end.
