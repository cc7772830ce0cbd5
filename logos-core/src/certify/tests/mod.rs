//! Capacities against enumeration, phases and turns by hand, and the figures of a real model.

mod capacities;
mod figures;
mod phases;
mod tight;
