internal import URLLoading

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
        guard depth <= Parameters.maximumDepth else {
            throw ParameterFailure(.tooDeep(limit: Parameters.maximumDepth))
        }
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
            guard let text = NumberText.of(value) else { throw ParameterFailure(.notFinite(path: leaf.name, value)) }
            return text
        case .decimal(let value):
            guard value.isFinite else { throw ParameterFailure(.notFinite(path: leaf.name, .nan)) }
            return value.description
        case .string(let value): return value
        case .data(let value): return try data.text(value)
        case .date(let value):
            switch try dates.outcome(value, at: leaf.name) {
            case .text(let text): return text
            case .number(let number): return NumberText.of(number) ?? ""
            }
        }
    }
}
