//! What is evaluated, by hand and against itself; against the reference implementation it is `tests/reference`.

mod arithmetic;
mod counted;
mod refused;
mod rotary;
mod same;
mod source;
