import LoadGenerator

/// What the reports and `--version` say.
package enum VolleyVersion {
    package static let text = "0.1.0"
}
