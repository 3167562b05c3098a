internal import Foundation
internal import HTTPSemantics

/// Foundation's URLs as the rules take them: compared by what Foundation reads in them.
extension WebURL {
    init(_ url: URL) { self.init(url.absoluteString, origin: WebOrigin(url)) }

    /// Nil for a text of which Foundation makes no URL.
    static func read(_ text: String) -> WebURL? { URL(string: text).map { WebURL($0) } }

    /// Foundation's URL of the same text. Nil only for a text that did not come from one.
    var url: URL? { URL(string: text) }
}

extension WebOrigin {
    /// Nil for a URL without a host, and for schemes other than the Web's.
    init?(_ url: URL) {
        guard let scheme = url.scheme, let host = url.host else { return nil }
        self.init(scheme: scheme, host: host, port: url.port)
    }
}
