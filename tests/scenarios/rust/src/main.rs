//! schema_registry_converter beside a schema registry: one JSON line for each scenario.
//!
//!     odradek-registry-scenarios URL

use apache_avro::types::Value;
use schema_registry_converter::blocking::avro::{AvroDecoder, AvroEncoder};
use schema_registry_converter::blocking::schema_registry::{
    get_all_subjects, get_all_versions, get_schema_by_id, is_compatible_schema, post_schema, SrSettings,
};
use schema_registry_converter::schema_registry_common::{
    SchemaType, SubjectNameStrategy, SuppliedReference, SuppliedSchema,
};
use serde_json::json;

const FIRST: &str = r#"{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}"#;
const OTHER: &str = r#"{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}"#;
const INNER: &str = r#"{"type":"record","name":"Inner","namespace":"rust","fields":[]}"#;
const OUTER: &str = r#"{"type":"record","name":"Outer","namespace":"rust","fields":[{"name":"i","type":"Inner"}]}"#;

type Outcome = Result<(), String>;

fn settings() -> SrSettings {
    SrSettings::new(std::env::args().nth(1).expect("URL"))
}

fn supplied(schema: &str) -> SuppliedSchema {
    SuppliedSchema {
        name: None,
        schema_type: SchemaType::Avro,
        schema: schema.to_string(),
        references: vec![],
        properties: None,
        tags: None,
    }
}

fn want<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, not {expected:?}")) }
}

fn avro_there_and_back() -> Outcome {
    let strategy = SubjectNameStrategy::TopicNameStrategyWithSchema("rust".to_string(), false, supplied(FIRST));
    let encoder = AvroEncoder::new(settings());
    let bytes = encoder.encode(vec![("a", Value::Int(7))], &strategy).map_err(|error| error.to_string())?;
    let decoded = AvroDecoder::new(settings()).decode(Some(&bytes)).map_err(|error| error.to_string())?;
    want("decoded", decoded.value, Value::Record(vec![("a".to_string(), Value::Int(7))]))?;
    let subjects = get_all_subjects(&settings()).map_err(|error| error.to_string())?;
    want("subject", subjects.contains(&"rust-value".to_string()), true)
}

fn references_are_registered() -> Outcome {
    let inner = SuppliedReference {
        name: "rust.Inner".to_string(),
        subject: "rust-inner".to_string(),
        schema: INNER.to_string(),
        references: vec![],
        properties: None,
        tags: None,
    };
    let outer = SuppliedSchema { references: vec![inner], ..supplied(OUTER) };
    let posted = post_schema(&settings(), "rust-outer".to_string(), outer).map_err(|error| error.to_string())?;
    let found = get_schema_by_id(posted.id, &settings()).map_err(|error| error.to_string())?;
    want("subject", found.references[0].subject.as_str(), "rust-inner")?;
    want("place", (found.subject.as_deref(), found.version), (Some("rust-outer"), Some(1)))
}

fn what_is_not_compatible_is_refused() -> Outcome {
    let subject = || "rust-strict".to_string();
    post_schema(&settings(), subject(), supplied(FIRST)).map_err(|error| error.to_string())?;
    let fits = is_compatible_schema(&settings(), subject(), supplied(OTHER)).map_err(|error| error.to_string())?;
    want("fits", fits, false)?;
    want("refused", post_schema(&settings(), subject(), supplied(OTHER)).is_err(), true)?;
    let versions = get_all_versions(&settings(), subject()).map_err(|error| error.to_string())?;
    want("versions", versions, vec![1])
}

fn main() {
    let scenarios: [(&str, fn() -> Outcome); 3] = [
        ("avro_there_and_back", avro_there_and_back),
        ("references_are_registered", references_are_registered),
        ("what_is_not_compatible_is_refused", what_is_not_compatible_is_refused),
    ];
    for (scenario, run) in scenarios {
        println!("{}", json!({"scenario": scenario, "error": run().err().unwrap_or_default()}));
    }
}
