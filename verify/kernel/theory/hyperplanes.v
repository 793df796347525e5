(* Lemma 3 (avoiding hyperplanes): a whole vector that lies on none of finitely many hyperplanes. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Hyperplanes.
Variable F : numFieldType.

(* Finitely many polynomials that are not 0 have a whole number N at which none vanishes: that of their product
   which is not among its finitely many roots. *)
Lemma common_nonroot (ps : seq {poly F}) : all (fun p => p != 0) ps ->
  exists N : nat, all (fun p => p.[N%:R] != 0) ps.
Proof.
move=> ps0; pose q := \prod_(p <- ps) p.
have q0 : q != 0 by rewrite prodf_seq_neq0.
pose rs := [seq c%:R | c <- iota 0 (size q)] : seq F.
have u_rs : uniq rs.
  by rewrite map_inj_uniq ?iota_uniq // => a b /eqP; rewrite eqr_nat => /eqP.
have : ~~ all (root q) rs.
  by apply/negP => a; have := max_poly_roots q0 a u_rs; rewrite size_map size_iota ltnn.
case/allPn => x /mapP [c _ ->] qc; exists c; move: qc.
by rewrite /root /q horner_prod prodf_seq_neq0.
Qed.

(* The vector (1, N, ..., N^(d-1)): the linear form v is at it the value at N of the polynomial with the
   coefficients v. *)
Lemma avoid_hyperplanes d (vs : seq 'rV[F]_d) : all (fun v => v != 0) vs ->
  exists w : 'cV[int]_d, all (fun v => v *m map_mx (intr : int -> F) w != 0) vs.
Proof.
move=> vs0; have /common_nonroot [N HN] : all (fun p => p != 0) [seq rVpoly v | v <- vs].
  rewrite all_map; apply: sub_all vs0 => v /=; apply: contraNneq => v0.
  by rewrite -[v]rVpolyK v0 linear0.
exists (\col_i N%:R ^+ i); move: HN; rewrite all_map; apply: sub_all => v /=.
apply: contraNneq => /(congr1 (fun M : 'M_1 => M 0 0)); rewrite !mxE => v0.
apply/eqP; rewrite -[RHS]v0 (@horner_coef_wide _ d) ?size_poly //.
by apply: eq_bigr => j _; rewrite coef_rVpoly_ord !mxE rmorphX rmorph_nat.
Qed.
End Hyperplanes.
