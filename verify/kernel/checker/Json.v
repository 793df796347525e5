(* JSON, as a certificate may hold it: RFC 8259, UTF-8, integers alone, no key twice in one object. Part of the specification. *)
From Coq Require Import ZArith Bool Ascii String List.
Import ListNotations.
Open Scope Z_scope.

(* A file. It is read by position, so that a long one need not be held as a list. *)
Record file := File { size : nat; byte : nat -> Z }.

(* How reading ends: with a value, or with a verdict. [Over]: too large to be read here, which says nothing of the file. *)
Inductive status := Wrong | Unusable | Over.
Inductive result (A : Type) := Got (a : A) | No (s : status).
Arguments Got {A}. Arguments No {A}.
Definition bind {A B} (x : result A) (f : A -> result B) : result B := match x with Got a => f a | No s => No s end.
Notation "'let*' x ':=' a 'in' b" := (bind a (fun x => b)) (at level 61, x pattern, right associativity).
Definition need (s : status) (b : bool) : result unit := if b then Got tt else No s.
Fixpoint each_ {A B} (f : A -> result B) (l : list A) (done : list B) : result (list B) :=
  match l with [] => Got (rev_append done []) | x :: r => match f x with Got y => each_ f r (y :: done) | No s => No s end end.
Definition each {A B} (f : A -> result B) (l : list A) : result (list B) := each_ f l [].

(* Characters are code points. *)
Definition text := list Z.
Definition code (c : ascii) : Z := Z.of_N (N_of_ascii c).
Fixpoint codes (s : string) : text := match s with EmptyString => [] | String c r => code c :: codes r end.
Fixpoint same (x y : text) : bool :=
  match x, y with [], [] => true | a :: x', b :: y' => (a =? b) && same x' y' | _, _ => false end.
Definition between (a b c : Z) : bool := (a <=? c) && (c <=? b).
Definition one_of (l : text) (c : Z) : bool := existsb (Z.eqb c) l.

(* Strings and keys are given by the position of their first character: [text_at] reads them. *)
Inductive json := Literal (word : nat) | Int (z : Z) | Str (start : nat) | Arr (items : list json) | Obj (pairs : list (nat * json)).

(* Caps. The first four are those of docs/certificate.md; the others say [Over]. *)
Definition max_bytes := Z.to_nat 268435456.
Definition largest_size := 8388608.
Definition max_items := Z.to_nat largest_size.
Definition max_depth := Z.to_nat 64.
Definition max_digits := Z.to_nat 500000.
Definition max_int_digits := Z.to_nat 4300.
Definition longest_list := Z.to_nat 100000.
Definition longest_key := Z.to_nat 1000.
Definition most_keys := Z.to_nat 1000.
Definition longest_number := Z.to_nat 1000003.   (* characters that a number can have *)

Definition quote := 34.
Definition backslash := 92.
Definition minus := code "-".
Definition zero := code "0".
Definition nine := code "9".
Definition comma := code ",".
Definition colon := code ":".
Definition open_list := code "[".
Definition close_list := code "]".
Definition open_object := code "{".
Definition close_object := code "}".
Definition letter_u := code "u".
Definition white := [32; 9; 10; 13].
Definition escapes := combine (quote :: backslash :: codes "/bfnrt") [quote; backslash; code "/"; 8; 12; 10; 13; 9].
Definition words := [codes "null"; codes "false"; codes "true"].
Definition c_0x80 := 128. Definition c_0xC0 := 192. Definition c_0xE0 := 224. Definition c_0xF0 := 240.
Definition c_0x20 := 32. Definition c_64 := 64. Definition c_16 := 16. Definition c_10 := 10.
Definition c_0x800 := 2048. Definition c_0x10000 := 65536. Definition c_0x10FFFF := 1114111.
Definition c_0xD800 := 55296. Definition c_0xDBFF := 56319. Definition c_0xDC00 := 56320. Definition c_0xDFFF := 57343.
Definition c_0x400 := 1024. Definition c_minus1 := -1.

Section Reading.
Variable f : file.

(* The byte at a position; -1 at the end. *)
Definition at_ (i : nat) : Z := if Nat.ltb i (size f) then byte f i else c_minus1.

Fixpoint skip_ (fuel i : nat) : nat :=
  match fuel with O => i | S fuel' => if one_of white (at_ i) then skip_ fuel' (S i) else i end.
Definition skip (i : nat) : nat := skip_ (size f) i.

(* A code point in UTF-8, from its first byte on: no overlong form, no surrogate, at most 0x10FFFF. *)
Definition continuation (i : nat) : result Z :=
  let b := at_ i in if between c_0x80 (c_0xC0 - 1) b then Got (b - c_0x80) else No Unusable.
Definition utf8 (i : nat) : result (Z * nat) :=
  let a := at_ i in
  if between 0 (c_0x80 - 1) a then Got (a, S i)
  else if between c_0xC0 (c_0xE0 - 1) a then
    let* b := continuation (S i) in
    let c := (a - c_0xC0) * c_64 + b in
    if c_0x80 <=? c then Got (c, S (S i)) else No Unusable
  else if between c_0xE0 (c_0xF0 - 1) a then
    let* b := continuation (S i) in let* b' := continuation (S (S i)) in
    let c := ((a - c_0xE0) * c_64 + b) * c_64 + b' in
    if (c_0x800 <=? c) && negb (between c_0xD800 c_0xDFFF c) then Got (c, S (S (S i))) else No Unusable
  else if c_0xF0 <=? a then
    let* b := continuation (S i) in let* b' := continuation (S (S i)) in let* b'' := continuation (S (S (S i))) in
    let c := (((a - c_0xF0) * c_64 + b) * c_64 + b') * c_64 + b'' in
    if between c_0x10000 c_0x10FFFF c then Got (c, S (S (S (S i)))) else No Unusable
  else No Unusable.

Definition hex (i : nat) : result Z :=
  let c := at_ i in
  if between zero nine c then Got (c - zero)
  else if between (code "a") (code "f") c then Got (c - code "a" + c_10)
  else if between (code "A") (code "F") c then Got (c - code "A" + c_10)
  else No Unusable.
Definition hex4 (i : nat) : result Z :=
  let* a := hex i in let* b := hex (S i) in let* c := hex (S (S i)) in let* d := hex (S (S (S i))) in
  Got (((a * c_16 + b) * c_16 + c) * c_16 + d).

(* One more character: a low surrogate joins the high one before it. [done] is in reverse. *)
Definition push (c : Z) (done : text) : text :=
  match done with
  | h :: r => if between c_0xDC00 c_0xDFFF c && between c_0xD800 c_0xDBFF h
      then (h - c_0xD800) * c_0x400 + (c - c_0xDC00) + c_0x10000 :: r else c :: done
  | [] => [c]
  end.

(* The characters of a string from i on (none, unless [keep]), and the position behind its closing quote. *)
Fixpoint characters (keep : bool) (fuel i : nat) (done : text) : result (text * nat) :=
  let push := fun c => if keep then push c done else done in
  match fuel with
  | O => No Unusable
  | S fuel' =>
    let c := at_ i in
    if c =? quote then Got (rev_append done [], S i)
    else if c <? c_0x20 then No Unusable
    else if c =? backslash then
      let e := at_ (S i) in
      if e =? letter_u then
        match hex4 (S (S i)) with Got c => characters keep fuel' (S (S (S (S (S (S i)))))) (push c) | No s => No s end
      else match find (fun p => fst p =? e) escapes with
        | Some (_, c) => characters keep fuel' (S (S i)) (push c)
        | None => No Unusable
        end
    else match utf8 i with Got (c, j) => characters keep fuel' j (push c) | No s => No s end
  end.
(* The string at a position, to the length that any text with a meaning may have. *)
Definition text_at (i : nat) : text := match characters true longest_number i [] with Got (t, _) => t | No _ => [] end.
(* The position behind a string. *)
Definition string_end (i : nat) : result nat := let* (_, j) := characters false (S (size f)) i [] in Got j.

(* An integer: a sign, and digits without a leading zero. *)
Fixpoint digits_ (fuel i : nat) (count : nat) (z : Z) : Z * nat * nat :=
  match fuel with
  | O => (z, count, i)
  | S fuel' => let c := at_ i in
      if between zero nine c then digits_ fuel' (S i) (S count) (c_10 * z + (c - zero)) else (z, count, i)
  end.
Definition int_at (i : nat) : result (json * nat) :=
  let negative := at_ i =? minus in
  let i := if negative then S i else i in
  let '(z, count, j) := digits_ (S max_int_digits) i O 0 in
  let* _ := need Unusable (Nat.ltb 0 count && Nat.leb count max_int_digits) in
  let* _ := need Unusable (Nat.eqb count 1 || negb (at_ i =? zero)) in
  Got (Int (if negative then - z else z), j).

Fixpoint spells (w : text) (i : nat) : option nat :=
  match w with [] => Some i | c :: r => if at_ i =? c then spells r (S i) else None end.
Fixpoint word_at (ws : list text) (k i : nat) : result (json * nat) :=
  match ws with
  | [] => No Unusable
  | w :: r => match spells w i with Some j => Got (Literal k, j) | None => word_at r (S k) i end
  end.

Definition expect (c : Z) (i : nat) : result nat := let j := skip i in if at_ j =? c then Got (S j) else No Unusable.

(* The keys of an object: none twice. *)
Fixpoint distinct_texts (l : list text) : bool :=
  match l with [] => true | x :: r => negb (existsb (same x) r) && distinct_texts r end.
Definition object (pairs : list (nat * json)) : result json :=
  let* _ := need Over (Nat.leb (length pairs) most_keys) in
  let* _ := need Unusable (distinct_texts (map (fun p => text_at (fst p)) pairs)) in Got (Obj pairs).

(* A value; the items of a list; the pairs of an object. [depth] counts the brackets that are still allowed inside. *)
Fixpoint json_value (fuel depth i : nat) : result (json * nat) :=
  match fuel with
  | O => No Unusable
  | S fuel' =>
    let i := skip i in
    let c := at_ i in
    if c =? quote then let* j := string_end (S i) in Got (Str (S i), j)
    else if c =? open_list then match depth with
      | O => No Unusable
      | S depth' => let j := skip (S i) in
          if at_ j =? close_list then Got (Arr [], S j)
          else let* (l, k) := items fuel' depth' O [] (S i) in Got (Arr l, k)
      end
    else if c =? open_object then match depth with
      | O => No Unusable
      | S depth' => let j := skip (S i) in
          if at_ j =? close_object then Got (Obj [], S j)
          else let* (l, k) := pairs fuel' depth' O [] (S i) in let* o := object l in Got (o, k)
      end
    else if between zero nine c || (c =? minus) then int_at i
    else word_at words O i
  end
with items (fuel depth count : nat) (done : list json) (i : nat) : result (list json * nat) :=
  match fuel with
  | O => No Unusable
  | S fuel' =>
    match json_value fuel' depth i with
    | No s => No s
    | Got (v, j) =>
      let j := skip j in
      if at_ j =? comma then
        if Nat.ltb count longest_list then items fuel' depth (S count) (v :: done) (S j) else No Over
      else if at_ j =? close_list then Got (rev_append (v :: done) [], S j) else No Unusable
    end
  end
with pairs (fuel depth count : nat) (done : list (nat * json)) (i : nat) : result (list (nat * json) * nat) :=
  match fuel with
  | O => No Unusable
  | S fuel' =>
    let entry :=
      let* k := expect quote i in
      let* j := string_end k in
      let* _ := need Over (Nat.leb (j - k) longest_key) in
      let* j := expect colon j in
      let* (v, j) := json_value fuel' depth j in Got (k, v, j) in
    match entry with
    | No s => No s
    | Got (k, v, j) =>
      let j := skip j in
      if at_ j =? comma then
        if Nat.ltb count longest_list then pairs fuel' depth (S count) ((k, v) :: done) (S j) else No Over
      else if at_ j =? close_object then Got (rev_append ((k, v) :: done) [], S j) else No Unusable
    end
  end.

(* Commas and opening brackets, wherever they stand. *)
Fixpoint count_items (fuel i n : nat) : nat :=
  match fuel with
  | O => n
  | S fuel' => let c := at_ i in
      count_items fuel' (S i) (if (c =? comma) || (c =? open_list) || (c =? open_object) then S n else n)
  end.

Definition document : result json :=
  let* _ := need Unusable (Nat.leb (size f) max_bytes) in
  let* _ := need Unusable (Nat.leb (count_items (size f) O O) max_items) in
  let* (v, i) := json_value (S (size f + size f)) max_depth O in
  let* _ := need Unusable (Nat.eqb (skip i) (size f)) in Got v.
End Reading.
