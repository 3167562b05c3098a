/// How parameters become the `name=value` pairs of a query or a form.
///
/// The defaults: names in alphabetical order at every depth, elements of arrays in theirs; a name within a name is put
/// in brackets; the elements of an array bear `name[]`, those of a set the bare name.
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
        /// Nothing.
        case omitted
    }

    /// In which order names are written.
    @frozen public enum Order: Sendable {
        /// Sorted by name at every depth. Arrays keep their order.
        case byName
        /// As given. Values of a `Dictionary` are sorted by name.
        case asGiven
    }

    /// How a space is written.
    @frozen public enum Spaces: Sendable {
        /// `%20`
        case percent
        /// `+`, which a form has and a query need not understand.
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
    /// In which order names are written.
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

    /// `a=1&b%5B%5D=2`; empty where there is nothing to tell.
    public func string(_ parameters: Parameters) throws(ParameterFailure) -> String {
        var result = ""
        for pair in try pairs(parameters) {
            if !result.isEmpty { result += "&" }
            result += Self.escaped(pair.name, spaces: spaces)
            if let value = pair.value { result += "=" + Self.escaped(value, spaces: spaces) }
        }
        return result
    }

    /// Percent-encodes the octets of everything but letters, digits and `-._~/?`, upper-case digits; what is encoded
    /// already is encoded again. Octet by octet, so that no character, however composed, can be cut in two.
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
