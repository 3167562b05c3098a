package import UncurlEngine
import UncurlReactor

/// The URL of a run as it was typed, and the engine's reading of it.
package struct TargetURL: Hashable, Sendable {
    /// The URL as typed, for the report.
    package let text: String
    package let parts: HTTPURL

    /// - Parameter typed: The user's text, where `text` has been prepared.
    package init(_ text: String, typed: String? = nil) throws(LoadTestError) {
        self.text = typed ?? text
        do throws(HTTPURL.Problem) {
            parts = try HTTPURL(text)
        } catch {
            throw .url(text, error)
        }
    }

    package var isSecure: Bool { parts.origin.scheme == .https }
    package var host: URLHost { parts.host }
    package var port: UInt16 { parts.port }
    package var target: String { parts.target }
    /// The Host field's value (RFC 9110 §7.2).
    package var hostField: String { parts.origin.authority }
}
