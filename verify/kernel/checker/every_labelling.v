(* The computation behind an every-labelling certificate, over Z: heads that cancel, and their derivatives modulo p. *)
From Coq Require Import ZArith List Bool.
Require Import Spec Certificate interpolation integers residues full_rank weights_near.
Import ListNotations CheckZ.
Open Scope Z_scope.
Local Notation length := List.length.

(* Heads with equal keys and queries, with the sum of their values times outputs. *)
Fixpoint equal_rows (x y : list Z) : bool :=
  match x, y with [], [] => true | a :: x', b :: y' => (a =? b) && equal_rows x' y' | _, _ => false end.
Fixpoint equal_tables (x y : list (list Z)) : bool :=
  match x, y with [], [] => true | a :: x', b :: y' => equal_rows a b && equal_tables x' y' | _, _ => false end.
Fixpoint added (x y : list (list Z)) : list (list Z) :=
  match x, y with a :: x', b :: y' => axpy 1 a b :: added x' y' | _, _ => [] end.
Fixpoint joined (y : chead) (totals : list chead) : list chead :=
  match totals with
  | [] => [y]
  | x :: r => if equal_tables (cK x) (cK y) && equal_tables (cQ x) (cQ y) then CHead (cK x) (cQ x) (added (cR x) (cR y)) :: r else x :: joined y r
  end.
Definition cancel (hs : list chead) : bool :=
  forallb (fun x => forallb (forallb (Z.eqb 0)) (cR x)) (fold_right joined [] hs).

(* A head: its integers, with V O; and modulo p, each matrix without a common factor. *)
Record residue_head := ResidueHead { mK : list (list Z); mQ : list (list Z); mV : list (list Z); mO : list (list Z); mixes : list (list Z) }.
Record residue_slopes := ResidueSlopes {
  m_query : list Z;             (* Q^T e *)
  m_gamma : list (list Z);      (* gamma_j *)
  m_back : list (list Z);       (* K^T gamma_j *)
  m_mean : list Z;              (* z *)
  m_value : list Z }.           (* V^T z *)

Section Check.
Variables (gcd : Z -> Z -> Z) (u : units Z) (p : Z) (c : cert Z).
Local Notation d := (dimd c). Local Notation dk := (dimk c). Local Notation dv := (dimv c). Local Notation m := (dimm c).

Definition stripped (rows : list (list Z)) : option (list (list Z)) :=
  let common := fold_left (fun g row => fold_left gcd row g) rows 0 in
  let g := if common =? 0 then 1 else common in
  if forallb (forallb (fun x => x / g * g =? x)) rows then Some (map (map (fun x => x / g mod p)) rows) else None.
Definition dotp (x y : list Z) : Z := dot x y mod p.
Definition residue_head_of (mO : list (list Z)) (y : nat * (head Z * chead)) : option residue_head :=
  let '(h, (x, y)) := y in
  match clearm d dv (uv _ u) (value x) with
  | None => None
  | Some V => match stripped (cK y), stripped (cQ y), stripped V with
    | Some K, Some Q, Some V =>
      let out := firstn dv (skipn (h * dv) mO) in
      Some (ResidueHead K Q V out (map (fun column => map (fun row => dotp row column) V) (columns out)))
    | _, _, _ => None
    end
  end.

Section Example.
Variables (E : list (list Z)) (e : list Z).   (* modulo p *)
Definition slopes_mod (y : residue_head) (ws : list Z) : residue_slopes :=
  let scores := map (fun v => map (fun token => dotp token v) E) (mixes y) in
  let gammas := map (fun s => let mean := dotp ws s in
    let g := map (fun x => fst x * (snd x - mean) mod p) (combine ws s) in map (fun column => dotp column g) (columns E)) scores in
  let z := map (fun column => dotp column ws) (columns E) in
  ResidueSlopes (map (fun column => dotp e column) (columns (mQ y))) gammas
    (map (fun g => map (fun key => dotp key g) (columns (mK y))) gammas) z (map (fun column => dotp column z) (columns (mV y))).
Definition entry (M : list (list Z)) (a b : nat) : Z := nth b (nth a M []) 0.
Definition derivative_mod (l : list (residue_head * residue_slopes)) (j : nat) (x : place) : Z :=
  match x with
  | AtKey h a b => match nth_error l h with Some (_, s) => entry (m_gamma s) j a * nth b (m_query s) 0 mod p | None => 0 end
  | AtQuery h a b => match nth_error l h with Some (_, s) => nth a e 0 * entry (m_back s) j b mod p | None => 0 end
  | AtValue h a b => match nth_error l h with Some (y, s) => nth a (m_mean s) 0 * entry (mO y) b j mod p | None => 0 end
  | AtOutput h b i => match nth_error l h with Some (_, s) => if Nat.eqb i j then nth b (m_value s) 0 else 0 | None => 0 end
  end.
End Example.

(* Softmax weights modulo p, of logits over D. *)
Definition weights_mod (D : Z) (ls : list Z) : option (list Z) :=
  match shifts D ls with
  | None => None
  | Some ss => let ws := map (power_of_2 p) ss in
    match inverse p (total ws mod p) with None => None | Some i => Some (map (fun w => w * i mod p) ws) end
  end.
Definition all_places : list place := map (place_of d m (dimH c) dk dv) (seq 0 (dimH c * (2 * d * dk + d * dv) + dimH c * dv * m)).
Definition rows_of (places : list place) (D : Z) (hs : list chead) (ms : list residue_head) (t : nat) : option (list (list Z)) :=
  match clear_context d (uE _ u) (ctx c t), clearv d (uq _ u) (nth t (queries c) []) with
  | Some E, Some e => match mapM (fun y => weights_mod D (logits dk (cK y) (cQ y) E e)) hs with
    | None => None
    | Some wss =>
      let small := map (fun x => x mod p) in
      let e' := small e in
      let l := map (fun x => (fst x, slopes_mod (map small E) e' (fst x) (snd x))) (combine ms wss) in
      Some (map (fun j => map (derivative_mod e' l j) places) (seq 0 m))
    end
  | _, _ => None
  end.

Definition check_every_labelling : bool :=
  let places := all_places in
  modulus p && nonzero (uE _ u) && nonzero (uq _ u) && nonzero (uk _ u) && nonzero (uw _ u) && nonzero (uv _ u) && nonzero (uo _ u) &&
  distinct_places places && forallb (valid_place d m (dimH c) dk dv) places &&
  match clearm (dimH c * dv) m (uo _ u) (output c) with
  | None => false
  | Some out => match clear_heads u d dk dv m out (heads c), stripped out with
    | Some hs, Some mO => cancel hs && match mapM (residue_head_of mO) (numbered (combine (heads c) hs)) with
      | None => false
      | Some ms =>
        let D := (uE _ u * uq _ u) * (uk _ u * uw _ u) in
        match mapM (rows_of places D hs ms) (seq 0 (dimT c)) with
        | None => false
        | Some rows => independent p (dimT c * m) (concat rows)
        end
      end
    | _, _ => false
    end
  end.
End Check.
