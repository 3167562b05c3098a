package import UncurlEngine

extension LoadOptions {
    /// The host that connects go to. Nil for the embedded server and a unix socket.
    package var firstHop: URLHost? {
        guard unixSocket == nil, case .url(let url) = target else { return nil }
        return proxy?.host ?? ConnectToRule.destination(of: url, by: connectTo).0
    }
}
