import UncurlHTTP1
import UncurlSemantics

/// Header fields for a test, in their order.
func fields(_ pairs: (String, String)...) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in pairs { try? fields.append(name, value) }
    return fields
}

/// An octet string as a field's value, as a parser would have left it.
func fields(_ name: String, octets: [UInt8]) -> HTTPFields {
    var fields = HTTPFields()
    try? fields.append(name: Array(name.utf8).span, value: octets.span)
    return fields
}

func url(_ text: String) throws -> HTTPURL { try HTTPURL(text) }

/// A URL as it is written, with user information and a fragment.
func written(_ text: String) throws -> URIReference {
    let url = URIReference(text)
    guard url.origin != nil else { throw NoURL(text: text) }
    return url
}

struct NoURL: Error { let text: String }
