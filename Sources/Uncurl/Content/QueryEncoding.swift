internal import URLLoading
internal import UncurlText

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
        // The unreserved characters, and `/` and `?`, stay: a query may hold them (RFC 3986 §2.3 and §3.4).
        let escaped = percentEncodedText(text, keeping: "/?")
        guard case .plus = spaces else { return escaped }
        return escaped.replacing("%20", with: "+")
    }
}

/// Flattens a tree into pairs.
extension QueryEncoding {
    /// A leaf under its full name. Bytes and text are separated only at the end, because the parts of a form take bytes
    /// as they are.
    typealias Leaf = (name: String, value: Parameters)

    /// The pairs, not escaped. A value of nil means a name without an equals sign.
    ///
    /// - Throws: ``ParameterFailure`` for parameters without names, for a number that is not finite, for nesting beyond
    ///   the limit, or with the error of a style.
    public func pairs(_ parameters: Parameters) throws(ParameterFailure) -> [(name: String, value: String?)] {
        var pairs: [(name: String, value: String?)] = []
        for leaf in try leaves(parameters) {
            if case .null = leaf.value {
                switch nulls {
                case .bareName: pairs.append((leaf.name, nil))
                case .emptyValue: pairs.append((leaf.name, ""))
                case .literal: pairs.append((leaf.name, "null"))
                case .omitted: break
                }
            } else {
                pairs.append((leaf.name, try text(of: leaf)))
            }
        }
        return pairs
    }

    func leaves(_ parameters: Parameters) throws(ParameterFailure) -> [Leaf] {
        switch parameters {
        case .keyed(let fields):
            var leaves: [Leaf] = []
            for (name, value) in ordered(fields) { try collect(value, name, depth: 1, into: &leaves) }
            return leaves
        case .null, .bool, .integer, .unsigned, .double, .decimal, .string, .data, .date, .array, .set:
            throw ParameterFailure(.notKeyed)
        }
    }

    private func collect(
        _ value: Parameters,
        _ name: String,
        depth: Int,
        into leaves: inout [Leaf]
    ) throws(ParameterFailure) {
        try Parameters.check(depth: depth)
        switch value {
        case .null, .bool, .integer, .unsigned, .double, .decimal, .string, .data, .date:
            leaves.append((name, value))
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                try collect(element, elementName(name, index), depth: depth + 1, into: &leaves)
            }
        case .set(let elements):
            // Sorted by their text: the order of a `Set` differs from process to process.
            var written: [(text: String, leaves: [Leaf])] = []
            for element in elements {
                var own: [Leaf] = []
                try collect(element, name, depth: depth + 1, into: &own)
                var text = ""
                for leaf in own { text += "\(leaf.name)=\(try self.text(of: leaf))&" }
                written.append((text, own))
            }
            for entry in written.sorted(by: { Self.precedes($0.text, $1.text) }) { leaves += entry.leaves }
        case .keyed(let fields):
            for (key, value) in ordered(fields) {
                let inner =
                    switch nesting {
                    case .brackets: "\(name)[\(key)]"
                    case .dots: "\(name).\(key)"
                    case .custom(let joined): joined(name, key)
                    }
                try collect(value, inner, depth: depth + 1, into: &leaves)
            }
        }
    }

    private func elementName(_ name: String, _ index: Int) -> String {
        switch arrays {
        case .brackets: name + "[]"
        case .bare: name
        case .indexed: "\(name)[\(index)]"
        case .custom(let named): named(name, index)
        }
    }

    private func ordered(_ fields: KeyedParameters) -> [(name: String, value: Parameters)] {
        let spelled = fields.map { (name: keys.spelled($0.name), value: $0.value) }
        switch order {
        case .asGiven: return spelled
        case .byName: return spelled.sorted { Self.precedes($0.name, $1.name) }
        }
    }

    /// Compares UTF-16 units, whatever the locale.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf16.lexicographicallyPrecedes(right.utf16)
    }

    /// The text of a leaf; empty for null.
    func text(of leaf: Leaf) throws(ParameterFailure) -> String {
        switch leaf.value {
        case .null, .array, .set, .keyed: return ""
        case .bool(let value):
            switch booleans {
            case .numeric: return value ? "1" : "0"
            case .literal: return value ? "true" : "false"
            }
        case .integer(let value): return String(value)
        case .unsigned(let value): return String(value)
        case .double(let value):
            guard let text = value.shortestText else { throw ParameterFailure(.notFinite(path: leaf.name, value)) }
            return text
        case .decimal(let value):
            guard value.isFinite else { throw ParameterFailure(.notFinite(path: leaf.name, .nan)) }
            return value.description
        case .string(let value): return value
        case .data(let value): return try data.text(value)
        case .date(let value): return try text(of: (leaf.name, dates.value(of: value, at: leaf.name)))
        }
    }
}
