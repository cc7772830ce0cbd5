//! Documents: what fit finds, as typed values that are written as JSON. The order of a type's fields is that of the wire.
//!
//! In: a request's model, chip and deployment, and what the compiler made of them. Out: `logos.rdu.fit` and its kin. Every
//! figure is traced: [`frame::Origins`] says of each what it comes from, and no field is a time.

mod bundle;
mod chip;
mod frame;
mod gemm;
mod ii;
mod model;
mod print;
mod program;
#[cfg(feature = "schema")]
mod schema;
mod step;
mod subject;
mod trace;
mod vllm;
mod wanted;

#[cfg(test)]
mod tests;

pub use bundle::{BoundValue, BundleDeployment, BundleDocument, BundleFit, BundleLayer, BundleProgram, bundle};
pub use chip::{ChipBlock, ScaleUp};
pub use frame::{Cited, Document, Label, Labels, Origins};
pub use gemm::{Arithmetic, GemmFit, GemmResidency, Operand, Tiles, Workload, gemm};
pub use ii::{Banking, BufferDepth, Credit, CreditDepth, Envelope, IiReport, Pmu, SectionIi, StageIi, UnitBlock};
pub use model::{
    CutRow, DeploymentBlock, EmbeddingBlock, Excluded, GgufBlock, HeadBlock, KvBlock, KvTier, LadderRow, LayerRow,
    ModelBlock, ModelFit, ResidencyBlock, ServingRow, StoredBlock, TensorParallel, TensorRow, Tiers, Totals,
    WeightsBlock, model,
};
pub use program::{CertificateSummary, ProgramSummary, Rule};
#[cfg(feature = "schema")]
pub use schema::{SCHEMAS, schema};
pub use step::{Step, StepKind};
pub use subject::{Asked, AskedStep, Subject};
pub use trace::Traced;
pub use vllm::{
    Argument, Fallback, FromFit, GgufAlternative, Offload, OperandShape, OperationRow, PlanModel, ReservedBlock, Serve,
    StateOfKind, StateOfLayer, Unusual, VllmPlan, vllm_plan,
};
pub use wanted::{Report, Text, texts};
