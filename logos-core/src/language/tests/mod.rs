//! Whole programs: those that read and print back, and those that are refused.

mod generate;
mod refused;
mod round_trip;

use super::ast::Program;
use super::{check, parse, print};

/// Grouped attention on eight chips: four KV heads, each on two chips.
pub(super) const ATTENTION: &str = "\
## Main over 8 chips
Activations are bf16.
Let x be an 8 by 5120 input of Real.
Let pos be an 8 by 1 input of Int.
Let cos be an 8 by 32 table of Real, stored f32, cosines of theta 10000000, rotary 64.
Let sin be an 8 by 32 table of Real, stored f32, sines of theta 10000000, rotary 64.
Let an3 be a 1 by 5120 weight of Real, stored bf16.
Let Wq3 be a 5120 by 6144 weight of Real, stored q8_0, split columns.
Let Wg3 be a 5120 by 6144 weight of Real, stored q8_0, split columns.
Let Wk3 be a 5120 by 1024 weight of Real, stored bf16, split columns 4 ways.
Let Wv3 be a 5120 by 1024 weight of Real, stored bf16, split columns 4 ways.
Let qn3 be a 1 by 256 weight of Real, stored bf16.
Let kn3 be a 1 by 256 weight of Real, stored bf16.
Let Kc3 be 8 of 262144 by 1024 state of Real, stored bf16, split columns 4 ways.
Let Vc3 be 8 of 262144 by 1024 state of Real, stored bf16, split columns 4 ways.
Let Wo3 be a 6144 by 5120 weight of Real, stored bf16, split rows.
Let xn3 be rmsnorm of x with weight an3, eps 1e-6, offset 1.
Let q3 be xn3 matmul Wq3.
Let g3 be xn3 matmul Wg3.
Let k3 be xn3 matmul Wk3.
Let v3 be xn3 matmul Wv3.
Let qh3 be rmsnorm of q3 with weight qn3, eps 1e-6, offset 1, heads 24.
Let kh3 be rmsnorm of k3 with weight kn3, eps 1e-6, offset 1, heads 4.
Let qr3 be rope of qh3 with cos and sin, heads 24, rotary 64, halves.
Let kr3 be rope of kh3 with cos and sin, heads 4, rotary 64, halves.
Let c3 be attention of qr3 over Kc3 and Vc3 with kr3 and v3 at pos, heads 24, kv heads 4, scale 0.0625.
Let s3 be sigmoid of g3.
Let cg3 be c3 times s3.
Let o3 be cg3 matmul Wo3.
Let y3 be sum of o3 over chips.
Let xo3 be x plus y3.
Append kr3 to Kc3 at pos.
Append v3 to Vc3 at pos.
Show xo3.
";

/// A gated delta mixer, one token of eight sequences, on eight chips.
pub(super) const GATED_DELTA: &str = "\
## Main over 8 chips
Activations are bf16.
Let x be an 8 by 512 input of Real.
Let Wq be a 512 by 256 weight of Real, stored bf16, split columns.
Let Wk be a 512 by 256 weight of Real, stored bf16, split columns.
Let Wv be a 512 by 512 weight of Real, stored bf16, split columns.
Let Wa be a 512 by 32 weight of Real, stored bf16, split columns.
Let Wb be a 512 by 32 weight of Real, stored bf16, split columns.
Let Cv be a 4 by 512 weight of Real, stored bf16, split columns.
Let Rv be 8 of 3 by 512 state of Real, stored bf16, split columns.
Let A be a 1 by 32 weight of Real, stored f32, split columns.
Let dt be a 1 by 32 weight of Real, stored f32, split columns.
Let S be 8 of 512 by 16 state of Real, stored f32, split rows.
Let q be x matmul Wq.
Let k be x matmul Wk.
Let v be x matmul Wv.
Let vc be causal conv of v with taps Cv over Rv, silu.
Let qn be l2norm of q, heads 16, eps 1e-6, scale 0.25.
Let kn be l2norm of k, heads 16, eps 1e-6, scale 1.
Let a be x matmul Wa.
Let g be decay of a with rate A and bias dt.
Let b be x matmul Wb.
Let beta be sigmoid of b.
Let o be gated delta of qn, kn, vc, g and beta over S, heads 32, key heads 16.
Let y be gather of o over chips.
Show y.
";

/// Latent attention on two chips, eight tokens of four sequences; rows scaled by a table and by a value; norms of heads.
pub(super) const LATENT: &str = "\
## Main over 2 chips
Activations are bf16.
Let x be an 8 by 64 input of Real.
Let pos be an 8 by 1 input of Int.
Let temp be an 8 by 1 table of Real, stored f32, temperature of scale 0.1, floor 8192.
Let Wq be a 64 by 64 weight of Real, stored bf16, split columns.
Let Wqr be a 64 by 32 weight of Real, stored bf16, split columns.
Let Wc be a 64 by 24 weight of Real, stored bf16.
Let Wkr be a 64 by 8 weight of Real, stored bf16.
Let Wuk be a 64 by 24 weight of Real, stored bf16, split rows.
Let Wuv be a 24 by 48 weight of Real, stored bf16, split columns.
Let qw be a 4 by 16 weight of Real, stored bf16, split rows.
Let qb be a 4 by 16 weight of Real, stored bf16, split rows.
Let Cc be 4 of 128 by 24 state of Real, stored bf16.
Let Pc be 4 of 128 by 8 state of Real, stored bf16.
Let Wo be a 48 by 64 weight of Real, stored bf16, split rows.
Let Wg be a 64 by 1 weight of Real, stored bf16.
Let q be x matmul Wq.
Let qp be x matmul Wqr.
Let c be x matmul Wc.
Let p be x matmul Wkr.
Let qn be layernorm of q with weight qw and bias qb, eps 1e-5, heads 4.
Let qt be row scale of qn by temp.
Let ql be per head matmul of qt by Wuk, heads 4, rows.
Let a be latent attention of ql and qp over Cc and Pc with c and p at pos, heads 4, scale 0.20412415.
Let v be per head matmul of a by Wuv, heads 4, columns.
Let f be latent attention of ql and qp with c and p, heads 4, scale 0.20412415.
Let fv be per head matmul of f by Wuv, heads 4, columns.
Let o be v plus fv.
Let y be o matmul Wo.
Let g be x matmul Wg.
Let ys be row scale of y by g.
Let z be sum of ys over chips.
Let zn be layernorm of z, eps 1e-5.
Append c to Cc at pos.
Append p to Pc at pos.
Show zn.
";

/// Every other operation and attribute, on one chip and on four.
pub(super) const OTHERS: [&str; 3] = [
    "\
## Main
Activations are f32.
Let x be a 6 by 48 input of Real.
Let w be a 1 by 48 weight of Real, stored f16.
Let b be a 1 by 48 weight of Real, stored f16.
Let si be a 1 by 4 weight of Real, stored f16.
Let n be layernorm of x with weight w and bias b, eps 1e-5.
Let m be layernorm of n with weight w, eps 0.
Let r be rmsnorm of m, eps 1e-12, heads 3.
Let s be r scaled by -0.35355338.
Let t be tanh of s.
Let c be softcap of t, cap 30.
Let gt be gelu of c, tanh.
Let ge be gelu of gt.
Let e be geglu of ge and x, tanh.
Let f be geglu of e and x.
Let u be swiglu of f and x.
Let d be silu of u.
Let p be d times w.
Let z be p plus b.
Let o be attention of z with p and d and sinks si, heads 4, kv heads 4, scale 0.28867513, window 4, chunk 8192, softcap 50.
Show o.
",
    "\
## Main over 4 chips
Activations are f16.
Let token be an 8 by 1 input of Int.
Let E be a 1024 by 64 weight of Real, stored bf16, split rows.
Let part be rows of E at token.
Let scaled be part scaled by 8.
Let h be sum of scaled over chips.
Show h.
",
    "\
## Main over 4 chips
Activations are bf16.
Let x be an 18 by 64 input of Real.
Let n be a 1 by 64 weight of Real, stored bf16.
Let Wu be a 64 by 1024 weight of Real, stored bf16, split columns.
Let last be last row of x, sequences 2.
Let xn be rmsnorm of last with weight n, eps 1e-6.
Let logits be xn matmul Wu.
Let token be argmax of logits.
Show token.
",
];

/// Mixtures of experts: DeepSeek-V3's router and a shared expert over eight chips; gpt-oss's clamps and biases; Llama-4's scores on
/// the input.
pub(super) const EXPERTS: [&str; 3] = [
    "\
## Main over 8 chips
Activations are bf16.
Let x be a 4 by 64 input of Real.
Let Wr be a 64 by 256 weight of Real, stored bf16.
Let c be a 1 by 256 weight of Real, stored f32.
Let Ws be a 64 by 32 weight of Real, stored bf16, split columns.
Let Wt be a 32 by 64 weight of Real, stored bf16, split rows.
Let Wg be 256 of 64 by 32 weight of Real, stored q8_0, split columns.
Let Wu be 256 of 64 by 32 weight of Real, stored q8_0, split columns.
Let Wd be 256 of 32 by 64 weight of Real, stored bf16, split rows.
Let l be x matmul Wr.
Let r be router of l with c, top 8, score sigmoid, groups 8, kept 4, two best, normalised, scale 2.5.
Let s be x matmul Ws.
Let a be silu of s.
Let t be a matmul Wt.
Let e be experts of x by r through Wg, Wu and Wd, count 256, top 8, activation silu.
Let p be e plus t.
Let y be sum of p over chips.
Show y.
",
    "\
## Main
Activations are bf16.
Let x be a 4 by 64 input of Real.
Let Wr be a 64 by 32 weight of Real, stored bf16.
Let Wg be 32 of 64 by 48 weight of Real, stored bf16.
Let Wu be 32 of 64 by 48 weight of Real, stored bf16.
Let Wd be 32 of 48 by 64 weight of Real, stored bf16.
Let bg be 32 of 1 by 48 weight of Real, stored bf16.
Let bu be 32 of 1 by 48 weight of Real, stored bf16.
Let bd be 32 of 1 by 64 weight of Real, stored bf16.
Let l be x matmul Wr.
Let r be router of l, top 4, score chosen, scale 1.
Let y be experts of x by r through Wg, Wu and Wd with bg, bu and bd, count 32, top 4, activation clamped, alpha 1.702, limit 7.
Show y.
",
    "\
## Main
Activations are f16.
Let x be a 4 by 64 input of Real.
Let Wr be a 64 by 1 weight of Real, stored f16.
Let Wg be a 64 by 48 weight of Real, stored f16.
Let Wu be a 64 by 48 weight of Real, stored f16.
Let Wd be a 48 by 64 weight of Real, stored f16.
Let l be x matmul Wr.
Let r be router of l, top 1, score softmax, scale -0.5.
Let y be experts of x by r through Wg, Wu and Wd, count 1, top 1, activation gelu_tanh, input scaled.
Show y.
",
];

fn parsed(text: &str) -> Program {
    parse(text).unwrap_or_else(|errors| panic!("{}", listed(&errors)))
}

fn listed(errors: &[super::ProgramError]) -> String {
    let lines = errors.iter().map(|error| {
        let (line, column) = error.place.text.unwrap_or((0, 0));
        format!("{line}:{column}: {error}\n")
    });
    lines.collect()
}
