//! Finds libfovea_rt.so: in `FOVEA_LIB`, or where pkg-config says.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=FOVEA_LIB");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let folder = std::env::var("FOVEA_LIB").ok().or_else(|| {
        let found = Command::new("pkg-config").args(["--variable=libdir", "fovea"]).output().ok()?;
        let text = String::from_utf8(found.stdout).ok()?.trim().to_string();
        (!text.is_empty()).then_some(text)
    });
    // Without both, the linker searches the folders of the system.
    if let Some(folder) = folder {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=dylib=fovea_rt");
}
