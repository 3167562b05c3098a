/// Parameters with names, in the given order. Those of a `Dictionary`, which has no order, are sorted by name.
public struct KeyedParameters: Sendable {
    private var values: [String: Parameters] = [:]
    private var names: [String] = []

    /// No parameters.
    public init() {}

    /// The parameters of a dictionary.
    public init(_ fields: [String: Parameters]) {
        values = fields
        names = fields.keys.sorted()
    }

    /// Whether there is no parameter.
    public var isEmpty: Bool { values.isEmpty }
    /// The number of names.
    public var count: Int { values.count }

    /// The value of a name. Setting nil removes the name; a name that is set again keeps its position.
    public subscript(name: String) -> Parameters? {
        get { values[name] }
        set {
            let isNew = values[name] == nil
            values[name] = newValue
            if isNew, newValue != nil {
                names.append(name)
            } else if !isNew, newValue == nil {
                names.removeAll { $0 == name }
            }
        }
    }
}

extension KeyedParameters: Sequence {
    public func makeIterator() -> AnyIterator<(name: String, value: Parameters)> {
        var names = names.makeIterator()
        return AnyIterator {
            guard let name = names.next(), let value = values[name] else { return nil }
            return (name, value)
        }
    }
}

/// Two values are equal if they have the same names with the same values, in any order.
extension KeyedParameters: Hashable {
    public static func == (left: KeyedParameters, right: KeyedParameters) -> Bool { left.values == right.values }
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension KeyedParameters: ExpressibleByDictionaryLiteral {
    /// Of several values with one name, the last one counts.
    public init(dictionaryLiteral elements: (String, Parameters)...) {
        for (name, value) in elements { self[name] = value }
    }
}
