//! The two ways in, and what their expansions share.

/// Compiles models while the crate compiles: each becomes a module with a constant [`Deployment`](crate::Deployment) a deployment.
///
/// ```ignore
/// logos_rdu::logos_model! {
///     /// Documentation and attributes of the module.
///     pub mod qwen35 {
///         model: config "models/qwen3.5-27b/config.json",  // relative to the folder of Cargo.toml
///         chip: SN50,                                      // or `file "chips/mine.toml"`, a chip of one's own
///         weights: q8_0,                                   // or `checkpoint "….json"`; optional: the config's own dtype if left out
///         vocab: padded,                                   // optional: `exact`, cut as it is, if left out
///         deployments: {
///             /// Documentation of the constant.
///             DECODE:  decode  { tp: 8, ctx: 262_144, batch: 8 } require { hbm_fit, ctx >= 131_072 },
///             PREFILL: prefill { tp: 8, ctx: 262_144, chunk: 512 },
///             FORWARD: forward { tp: 1, rows: 128 },
///         },
///         reports: [fit, vllm_plan],                       // optional: JSON documents as constants
///     }
/// }
/// ```
///
/// | form | keys | a step is |
/// |---|---|---|
/// | `decode` | `tp`, `ctx`, `batch` | one token of each of `batch` sequences, over `ctx` positions of carried state |
/// | `prefill` | `tp`, `ctx`, `chunk`, `batch` | `chunk` tokens of each of `batch` sequences, over the decode step's own carried state |
/// | `forward` | `tp`, `rows` | `rows` tokens of one sequence, stateless, from a hidden state that is an input |
///
/// `tp`, the tensor-parallel width in chips, is where left out the widest that the model admits within a rack of the chip (a node, where no
/// rack is tabulated), and `batch` is 1; every other key is required. Sizes are
/// whole numbers written out: the macro runs before constants have values. Every form also takes `experts: parallel`: each chip then has
/// whole experts of a mixture, not a part of every one, and a step counts on the worst choice, that all experts a row chooses
/// are on one chip.
///
/// `vocab: padded` pads the vocabulary to the least multiple of 64 and of the width, as serving stacks do (vLLM's 64, with the width taken
/// in as Megatron-LM has it), so that embedding and head lie over any width. Rows of padding are zeros that no checkpoint stores, the last
/// chips load fewer rows, and no token is ever one of them.
///
/// What follows `require` has to hold of the deployment, or it is refused, at the requirement; rustc looks at each once more.
///
/// | requirement | holds if |
/// |---|---|
/// | `hbm_fit` | HBM holds all weights and states: no expert lies in DDR |
/// | `tight` | the interval of every program of one section is within 1/256 of its bound |
/// | `ctx >= 131_072` | the largest context that fits with the deployment's sequences, in positions, is so |
/// | `sequences >= 8` | the most sequences that fit at the deployment's context are so |
/// | `hbm_headroom >= 8 GiB` | what weights and states leave of a chip's HBM is so; in `KiB`, `MiB`, `GiB`, `TiB`, `KB`, `MB`, `GB`, `TB` or bytes |
///
/// Figures are compared by `>=`, `<=`, `==`, `>` or `<`.
///
/// `reports` makes `qwen35::fit_json::DECODE` and `qwen35::vllm_plan_json::DECODE`, a `&str` a deployment but forward ones: the text that `cargo logos fit
/// --json` and `cargo logos plan --json` write of it. They take the build longer, and the binary no byte unless they are used.
///
/// # Errors
/// What cannot be had is a compile error at the token that asked for it: all of them, each with a code, the numbers and what to
/// write instead. `cargo logos explain CODE` tells more. The module and its constants exist all the same, so
/// that nothing else fails.
#[macro_export]
macro_rules! logos_model {
    ($($model:tt)*) => {
        $crate::__private::logos_model! { [$crate] $($model)* }
    };
}

/// Includes the model that this crate's build script compiled with `logos_build::model(…)….emit("name")`: a public module of that
/// name with a constant [`Deployment`](crate::Deployment) a deployment.
///
/// ```ignore
/// logos_rdu::include_model!("qwen35");
/// const _: () = assert!(qwen35::DECODE.fit().fits);
/// ```
#[macro_export]
macro_rules! include_model {
    ($name:literal) => {
        $crate::__include_model! { ($) $name }
    };
}

/// The included file is user code to rustc, and does not know what this crate is called: it calls a macro that is defined
/// here, just before it.
#[doc(hidden)]
#[macro_export]
macro_rules! __include_model {
    (($d:tt) $name:literal) => {
        macro_rules! __logos_embed {
            ($d($d model:tt)*) => {
                $crate::__embed! { $d($d model)* }
            };
        }
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".rs"));
    };
}

/// The module of constants of a build script's output.
#[doc(hidden)]
#[macro_export]
macro_rules! __embed {
    (
        $(#[$about:meta])*
        $model:ident {
            $(
                $(#[$doc:meta])*
                $name:ident: $words:literal words of $file:literal
                require { $([$($required:tt)+])* },
            )*
        }
        $(
            $(#[$about_report:meta])*
            $report:ident { $($(#[$text_doc:meta])* $of:ident: $text:literal,)* }
        )*
    ) => {
        $(#[$about])*
        pub mod $model {
            $(
                $(#[$doc])*
                pub const $name: $crate::Deployment = $crate::__deployment!(
                    $words,
                    ::core::include_bytes!(::core::concat!(::core::env!("OUT_DIR"), "/", $file))
                );
                const _: () = {
                    const __VERDICTS: $crate::check::Verdicts = $crate::check::all($name.words());
                    $crate::__confirm! { __VERDICTS 0 1 2 3 4 5 6 7 8 9 10 11 12 }
                    const _: () = $crate::__private::confirm_fit(&$name);
                    $($crate::__require! { $name $($required)+ })*
                };
            )*
            $(
                $(#[$about_report])*
                pub mod $report {
                    $(
                        $(#[$text_doc])*
                        pub const $of: &::core::primitive::str =
                            ::core::include_str!(::core::concat!(::core::env!("OUT_DIR"), "/", $text));
                    )*
                }
            )*
        }
    };
}

/// A requirement of a deployment.
#[doc(hidden)]
#[macro_export]
macro_rules! __require {
    ($name:ident $required:ident $($compare:tt $value:literal)?) => {
        const _: () = $crate::__private::confirm_requirement(
            $crate::__private::$required(&$name) $($compare $value)?
        );
    };
}

/// A `const _` a rule, so that one compile shows every rule that fails.
#[doc(hidden)]
#[macro_export]
macro_rules! __confirm {
    ($verdicts:ident $($rule:literal)*) => {
        $(const _: () = $crate::check::confirm(&$verdicts, $rule);)*
    };
}

const _: () = assert!(logos_bundle::check::RULES.len() == 13, "__embed! lists the rules by number");

/// A deployment over a static of its own, from the little-endian bytes of its table. The static lies in the link
/// section `.logos` where the target's object format has such sections and code can read them: `cargo logos inspect`
/// finds it there. Not on WebAssembly, where a section of its own is out of the code's reach, nor on bare metal, where
/// an unknown section may upset the linker script.
#[doc(hidden)]
#[macro_export]
macro_rules! __deployment {
    ($words:literal, $bytes:expr) => {{
        #[used]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__logos"))]
        #[cfg_attr(
            not(any(target_vendor = "apple", target_family = "wasm", target_os = "none")),
            unsafe(link_section = ".logos")
        )]
        static WORDS: [u32; $words] = $crate::__private::from_le($bytes);
        $crate::Deployment::new(&WORDS)
    }};
}
