/// The version of this package: what `--version`, reports and releases show.
///
/// It is a product's version by RFC 9110 §10.1.5. `CHANGELOG.md` has what each version brought, and `./dev release`
/// names its files by it.
package enum PackageVersion {
    package static let text = "0.1.0"
}
