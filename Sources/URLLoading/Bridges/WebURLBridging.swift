internal import Foundation
internal import UncurlSemantics

/// Foundation's URLs in the form that the rules take: compared by the parts that Foundation reads in them.
extension WebURL {
    init(_ url: URL) { self.init(url.absoluteString, origin: WebOrigin(url)) }

    /// Returns the URL of a text; nil if Foundation makes no URL of it.
    static func read(_ text: String) -> WebURL? { URL(string: text).map { WebURL($0) } }

    /// Foundation's URL of the same text; nil only for a text that did not come from one.
    var url: URL? { URL(string: text) }
}

extension WebOrigin {
    /// Nil for a URL without a host, and for schemes other than http, https, ws and wss.
    init?(_ url: URL) {
        guard let scheme = url.scheme, let host = url.host else { return nil }
        self.init(scheme: scheme, host: host, port: url.port)
    }
}
