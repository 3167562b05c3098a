internal import Foundation
internal import UncurlSemantics

/// Where an attempt's requests are loaded from.
extension Attempt {
    /// The way to load a request that no `URLProtocol` class takes.
    enum Place {
        case network(URL)
        case local(URL)
    }

    mutating func place() throws(URLError) -> Place {
        guard let url = request.url else {
            throw ErrorTranslation.urlError(.unsupportedURL, nil, "the request has no URL")
        }
        switch url.scheme {
        case "http", "https": return .network(url)
        case "data": return .local(url)
        case "file":
            // RFC 8089 §2: another host's files are not reached by reading a path of this one.
            guard ["", "localhost"].contains(url.host?.lowercased() ?? "") else {
                let reason = "the file is on another host: “\(url.host ?? "")”"
                throw ErrorTranslation.urlError(.unsupportedURL, url, reason)
            }
            guard ["GET", "HEAD"].contains(request.values.httpMethod) else {
                let reason = "a file is read with GET: \(request.values.httpMethod) has no meaning for it"
                throw ErrorTranslation.urlError(.unsupportedURL, url, reason)
            }
            return .local(url)
        case let scheme?:
            guard scheme != scheme.lowercased(), let other = URLText.withLowercaseScheme(url) else {
                throw ErrorTranslation.urlError(.unsupportedURL, url, "no URLs of the scheme “\(scheme)” are loaded")
            }
            request.url = other
            return try place()
        case nil: throw ErrorTranslation.urlError(.unsupportedURL, url, "the URL has no scheme")
        }
    }

    /// Begins a WebSocket's handshake. Returns the URL that it is sent to.
    mutating func beginSocket(_ engine: SessionEngine) throws(URLError) -> URL {
        guard let url = request.url, let place = URLText.handshakePlace(of: url) else {
            throw ErrorTranslation.urlError(.unsupportedURL, request.url, "a WebSocket's URL begins with ws or wss")
        }
        guard request.values.httpMethod == "GET" else {
            throw ErrorTranslation.urlError(.unsupportedURL, url, "a WebSocket's handshake is a GET")
        }
        opening = try WebSocketOpening(request)
        machine.beginUncached()
        request.url = place
        rememberNamed(place, engine)
        return place
    }
}
