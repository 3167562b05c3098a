/// How parameters become `name=value` pairs and those a query or a form.
///
/// The rules as they stand in a value nobody has changed: names in alphabetical order at every depth, elements of arrays in
/// theirs; a name within a name is put in brackets; the elements of an array bear `name[]`, those of a set the bare name.
public struct QueryEncoding: Sendable {
    public enum Arrays: Sendable {
        /// `k[]=1&k[]=2`
        case brackets
        /// `k=1&k=2`
        case bare
        /// `k[0]=1&k[1]=2`
        case indexed
        case custom(@Sendable (_ name: String, _ index: Int) -> String)
    }

    public enum Nesting: Sendable {
        /// `k[sub]=1`
        case brackets
        /// `k.sub=1`
        case dots
        case custom(@Sendable (_ name: String, _ key: String) -> String)
    }

    public enum Booleans: Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    public enum Nulls: Sendable {
        /// `k`
        case bareName
        /// `k=`
        case emptyValue
        /// `k=null`
        case literal
        /// Nothing.
        case omitted
    }

    public enum Order: Sendable {
        /// By name, at every depth; arrays keep theirs.
        case byName
        /// As given; what came from a `Dictionary`, by name.
        case asGiven
    }

    public enum Spaces: Sendable {
        /// `%20`
        case percent
        /// `+`, which a form has and a query need not understand.
        case plus
    }

    public var arrays = Arrays.brackets
    public var nesting = Nesting.brackets
    public var booleans = Booleans.numeric
    public var nulls = Nulls.bareName
    public var order = Order.byName
    public var spaces = Spaces.percent
    public var keys = KeyStyle.asGiven
    public var dates = DateStyle.iso8601
    public var data = DataStyle.base64

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

    /// The pairs before they are escaped. A value of nil: the name stands without an equals sign.
    public func pairs(_ parameters: Parameters) throws(ParameterFailure) -> [(name: String, value: String?)] {
        []
    }

    /// Percent-encodes the octets of everything but letters, digits and `-._~/?`.
    public static func escaped(_ text: String) -> String { escaped(text, spaces: .percent) }

    static func escaped(_ text: String, spaces: Spaces) -> String { text }
}
