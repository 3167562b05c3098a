/// How parameters become the `name=value` pairs of a query or a form.
///
/// By default, names are sorted at every depth and arrays keep their order. A nested name is put in brackets. The
/// elements of an array are named `name[]`, those of a set `name`.
public struct QueryEncoding: Sendable {
    /// How the elements of an array are named.
    @frozen public enum Arrays: Sendable {
        /// `k[]=1&k[]=2`
        case brackets
        /// `k=1&k=2`
        case bare
        /// `k[0]=1&k[1]=2`
        case indexed
        /// The closure names each element.
        case custom(@Sendable (_ name: String, _ index: Int) -> String)
    }

    /// How a value within a value is named.
    @frozen public enum Nesting: Sendable {
        /// `k[sub]=1`
        case brackets
        /// `k.sub=1`
        case dots
        /// The closure names each value.
        case custom(@Sendable (_ name: String, _ key: String) -> String)
    }

    /// How a Boolean is written.
    @frozen public enum Booleans: Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    /// How a null is written.
    @frozen public enum Nulls: Sendable {
        /// `k`
        case bareName
        /// `k=`
        case emptyValue
        /// `k=null`
        case literal
        /// The null and its name are omitted.
        case omitted
    }

    /// The order of names.
    @frozen public enum Order: Sendable {
        /// Sorted by name at every depth. Arrays keep their order.
        case byName
        /// As given. The names of a `Dictionary` are sorted.
        case asGiven
    }

    /// How a space is written.
    @frozen public enum Spaces: Sendable {
        /// `%20`
        case percent
        /// `+`, which forms define. A server need not understand it in a query.
        case plus
    }

    /// How the elements of an array are named.
    public var arrays = Arrays.brackets
    /// How a value within a value is named.
    public var nesting = Nesting.brackets
    /// How a Boolean is written.
    public var booleans = Booleans.numeric
    /// How a null is written.
    public var nulls = Nulls.bareName
    /// The order of names.
    public var order = Order.byName
    /// How a space is written.
    public var spaces = Spaces.percent
    /// How names are spelled.
    public var keys = KeyStyle.asGiven
    /// How dates are written.
    public var dates = DateStyle.iso8601
    /// How bytes are written.
    public var data = DataStyle.base64

    /// AFNetworking's encoding, with dates in ISO 8601 and bytes in Base64.
    public init() {}

    /// The query, such as `a=1&b%5B%5D=2`; empty for empty parameters.
    public func string(_ parameters: Parameters) throws(ParameterFailure) -> String {
        var result = ""
        for pair in try pairs(parameters) {
            if !result.isEmpty { result += "&" }
            result += Self.escaped(pair.name, spaces: spaces)
            if let value = pair.value { result += "=" + Self.escaped(value, spaces: spaces) }
        }
        return result
    }

    /// Percent-encodes all octets but letters, digits and `-._~/?`, with upper-case digits. Existing escapes are
    /// escaped again. It works octet by octet, so combining characters cannot be cut in two.
    public static func escaped(_ text: String) -> String { escaped(text, spaces: .percent) }

    static func escaped(_ text: String, spaces: Spaces) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        for octet in text.utf8 {
            if isPlain(octet) {
                result.append(octet)
            } else if octet == UInt8(ascii: " "), case .plus = spaces {
                result.append(UInt8(ascii: "+"))
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(hexDigit(octet >> 4))
                result.append(hexDigit(octet & 15))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The unreserved characters, and `/` and `?`, which a query may hold as they are (RFC 3986 §2.3 and §3.4).
    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "?"):
            true
        default: false
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
