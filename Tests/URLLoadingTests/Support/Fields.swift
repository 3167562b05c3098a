import URLLoading
import UncurlHTTP1

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

func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    return url
}
