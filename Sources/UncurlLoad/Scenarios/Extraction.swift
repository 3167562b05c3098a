internal import UncurlHTTP1
import UncurlSemantics
import UncurlText

/// The extraction of a value from an answer, for the requests that follow.
package struct Extraction: Sendable {
    package enum Source: Sendable {
        case json(JSONPointer)
        case field(String)
        case cookie(String)
        /// A pattern in the content: its first group, or the whole match.
        case pattern(BytePattern)
    }

    package let name: String
    /// The number of the variable that receives the value.
    let variable: Int
    let source: Source
    /// The value where the answer has none. Without it, such an answer fails the request.
    let fallback: [UInt8]?

    package init(_ name: String, variable: Int, _ source: Source, fallback: [UInt8]? = nil) {
        (self.name, self.variable, self.source, self.fallback) = (name, variable, source, fallback)
    }

    /// - Parameter document: The content, if it is JSON.
    func value(in response: LoadResponse, _ document: JSONTree?) -> [UInt8]? {
        switch source {
        case .json(let pointer):
            switch document.flatMap({ pointer.value(in: $0) }) {
            case .string(let text)?: Array(text.utf8)
            case let other?: Array(other.line().utf8)
            case nil: nil
            }
        case .field(let name): response.fields.octets(of: name).first.map(Array.init)
        case .cookie(let name):
            response.fields.values(of: "Set-Cookie").lazy.compactMap { SetCookieLine($0) }.first { $0.name == name }.map
            { Array($0.value.utf8) }
        case .pattern(let pattern): pattern.first(in: response.body).map { Array($0) }
        }
    }

    var readsContent: Bool {
        switch source {
        case .json, .pattern: true
        case .field, .cookie: false
        }
    }

    var readsJSON: Bool { if case .json = source { true } else { false } }
}
