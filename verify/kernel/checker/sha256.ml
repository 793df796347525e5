(* SHA-256 (FIPS 180-4), for text that arrives in pieces. It is not verified, and no claim rests on it. *)
let prime p = List.for_all (fun q -> p mod q <> 0) (List.filter (fun q -> q * q <= p) (List.init (p - 2) (fun i -> i + 2)))
let primes = Array.of_list (List.filter prime (List.init 310 (fun i -> i + 2)))   (* the first 64 are below 312 *)

(* The first 32 bits of the fractional part of the k-th root of p: floor(2^32 p^(1/k)) modulo 2^32, computed with integers. *)
let root k p = Z.to_int (Z.logand (Z.root (Z.shift_left (Z.of_int p) (32 * k)) k) (Z.of_int 0xffffffff))
let constants = Array.map (root 3) primes
let start () = Array.map (root 2) (Array.sub primes 0 8)

type t = { state : int array; block : Bytes.t; mutable filled : int; mutable length : int; w : int array }
let fresh () = { state = start (); block = Bytes.create 64; filled = 0; length = 0; w = Array.make 64 0 }

let word x = x land 0xffffffff
let turn x k = word ((x lsr k) lor (x lsl (32 - k)))

let compress s =
  let w = s.w in
  for i = 0 to 15 do w.(i) <- word (Int32.to_int (Bytes.get_int32_be s.block (4 * i))) done;
  for i = 16 to 63 do
    let a = w.(i - 15) and b = w.(i - 2) in
    w.(i) <- word (w.(i - 16) + (turn a 7 lxor turn a 18 lxor (a lsr 3)) + w.(i - 7) + (turn b 17 lxor turn b 19 lxor (b lsr 10)))
  done;
  let v = Array.copy s.state in
  for i = 0 to 63 do
    let a = v.(0) and e = v.(4) in
    let first = word (v.(7) + (turn e 6 lxor turn e 11 lxor turn e 25) + ((e land v.(5)) lxor (lnot e land v.(6))) + constants.(i) + w.(i)) in
    let second = (turn a 2 lxor turn a 13 lxor turn a 22) + ((a land v.(1)) lxor (a land v.(2)) lxor (v.(1) land v.(2))) in
    Array.blit v 0 v 1 7;
    v.(4) <- word (v.(4) + first);
    v.(0) <- word (first + second)
  done;
  Array.iteri (fun i x -> s.state.(i) <- word (s.state.(i) + x)) v

let rec feed s text from count =
  let take = min count (64 - s.filled) in
  Bytes.blit_string text from s.block s.filled take;
  s.filled <- s.filled + take;
  s.length <- s.length + take;
  if s.filled = 64 then (compress s; s.filled <- 0);
  if take < count then feed s text (from + take) (count - take)
let add s text = feed s text 0 (String.length text)

let finish s =
  let bits = 8 * s.length in
  add s "\x80";
  while s.filled <> 56 do add s "\x00" done;
  let tail = Bytes.create 8 in
  Bytes.set_int64_be tail 0 (Int64.of_int bits);
  add s (Bytes.to_string tail);
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") s.state))
