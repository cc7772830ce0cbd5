//! JSON schemas of the documents, generated from their types.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::bundle::BundleDocument;
use super::frame::Document;
use super::gemm::GemmFit;
use super::model::ModelFit;
use super::print;
use super::vllm::VllmPlan;

/// The documents that have a schema.
pub const SCHEMAS: &[&str] = &["logos.rdu.bundle", "logos.rdu.fit", "logos.rdu.vllm_plan"];

/// `logos.rdu.fit`: of a model or of a product.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "only its schema is asked for")]
enum Fit {
    /// Of a model.
    Model(Box<Document<ModelFit>>),
    /// Of a product.
    Gemm(Box<Document<GemmFit>>),
}

/// The schema of a document as text; none of an unknown name.
pub fn schema(name: &str) -> Option<String> {
    let schema: Schema = match name {
        "logos.rdu.bundle" => SchemaGenerator::default().into_root_schema_for::<Document<BundleDocument>>(),
        "logos.rdu.vllm_plan" => SchemaGenerator::default().into_root_schema_for::<Document<VllmPlan>>(),
        "logos.rdu.fit" => SchemaGenerator::default().into_root_schema_for::<Fit>(),
        _ => return None,
    };
    print::pretty(schema.as_value()).ok()
}
