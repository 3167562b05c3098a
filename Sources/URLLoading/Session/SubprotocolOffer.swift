internal import Foundation
internal import UncurlWebSocket

/// The subprotocols that a WebSocket offers (RFC 6455 §1.9).
enum SubprotocolOffer {
    static let field = "Sec-WebSocket-Protocol"

    /// - Throws: `URLError.badURL` if a name is not a token, or is offered twice (§4.1).
    static func handshake(offering names: [String], _ url: URL?) throws(URLError) -> ClientHandshake {
        do throws(HandshakeError) {
            return try ClientHandshake(protocols: names)
        } catch {
            throw ErrorTranslation.urlError(.badURL, url, error)
        }
    }

    /// Returns the request that offers these subprotocols, and the error if they cannot be offered.
    static func request(to url: URL, offering protocols: [String]) -> (URLRequest, URLError?) {
        var request = URLRequest(url: url)
        guard !protocols.isEmpty else { return (request, nil) }
        do throws(URLError) {
            _ = try handshake(offering: protocols, url)
            request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: field)
            return (request, nil)
        } catch {
            return (request, error)
        }
    }
}
