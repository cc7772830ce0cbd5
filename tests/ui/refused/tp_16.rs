logos_rdu::logos_model! {
    pub mod qwen35 {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 16, ctx: 262_144, batch: 8 },
            PREFILL: prefill { tp: 16, ctx: 262_144, chunk: 512 },
        },
    }
}

// What reads a refused constant stays silent.
const _: () = assert!(qwen35::DECODE.fit().hbm_headroom_bytes > 8 << 30);
static CHIPS: [u8; qwen35::DECODE.chips()] = [0; qwen35::DECODE.chips()];

fn main() {
    const { assert!(qwen35::PREFILL.fit().fits) };
    println!("{:?} {}", qwen35::PREFILL, CHIPS.len());
}
