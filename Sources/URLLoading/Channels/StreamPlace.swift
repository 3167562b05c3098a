internal import Foundation
internal import UncurlEngine

/// The host and port that a stream task connects to.
struct StreamPlace: Sendable {
    let host: String
    let port: Int

    /// Returns the origin, with the scheme http because TLS may begin later. The proxy for https is asked for a tunnel
    /// all the same.
    func origin() throws(URLError) -> Origin {
        guard let number = UInt16(exactly: port), number > 0 else {
            throw ErrorTranslation.urlError(.badURL, nil, "there is no port \(port)")
        }
        do throws(EngineError) {
            return try Origin(scheme: .http, host: host, port: number)
        } catch {
            throw ErrorTranslation.error(error, nil)
        }
    }

    func isPlace(of other: Origin) -> Bool {
        guard let origin = try? origin() else { return false }
        return origin.host == other.host && origin.port == other.port
    }
}
