//! Makes Rust of `proto/urlfrontier.proto`, and the description that reflection shows.

use std::path::PathBuf;

use prost::Message;

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let (folder, file) = ("proto", "urlfrontier.proto");
    println!("cargo:rerun-if-changed={folder}/{file}");
    let described = protox::compile([file], [folder])?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    std::fs::write(out.join("urlfrontier.bin"), described.encode_to_vec())?;
    tonic_prost_build::configure()
        .build_transport(false)
        // Written by hand: its metadata stay as they came.
        .extern_path(".urlfrontier.URLInfo", "crate::serve::urlfrontier::wire::Info")
        .compile_fds(described)?;
    Ok(())
}
